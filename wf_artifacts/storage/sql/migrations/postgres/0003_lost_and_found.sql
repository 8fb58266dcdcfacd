INSERT INTO wf_locks VALUES ('repairs');
CREATE TABLE wf_lost_versions AS SELECT * FROM wf_versions WHERE 1 = 0;
CREATE TABLE wf_lost_deployments AS SELECT * FROM wf_deployments WHERE 1 = 0;
CREATE TABLE wf_lost_runs AS SELECT * FROM wf_runs WHERE 1 = 0;
CREATE TABLE wf_lost_run_heads AS SELECT * FROM wf_run_heads WHERE 1 = 0;
CREATE TABLE wf_lost_environments AS SELECT * FROM wf_environments WHERE 1 = 0;
CREATE TABLE wf_lost_checkpoints AS SELECT * FROM wf_checkpoints WHERE 1 = 0;
CREATE TABLE wf_lost_journal AS SELECT * FROM wf_journal WHERE 1 = 0;
CREATE TABLE wf_lost_trace AS SELECT * FROM wf_trace WHERE 1 = 0;
