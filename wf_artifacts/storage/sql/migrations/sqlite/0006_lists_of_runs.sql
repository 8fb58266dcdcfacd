CREATE INDEX wf_runs_of_principal_by_deployment_and_status ON wf_runs (principal, deployment_id, status, run_id);
