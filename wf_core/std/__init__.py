"""What is built in: the reducers of the plan language and the capabilities of `wf.std`. All of it is pure."""
