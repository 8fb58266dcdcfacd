"""How one call is carried out, by what its policy says of it. What becomes of its result is its session's or run's."""
