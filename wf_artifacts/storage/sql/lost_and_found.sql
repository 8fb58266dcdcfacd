-- name: lock_repairs
UPDATE wf_locks SET name = name WHERE name = 'repairs'

-- name: keep_version
INSERT INTO wf_lost_versions SELECT * FROM wf_versions WHERE artifact_id = :artifact_id AND version = :version

-- name: keep_deployment
INSERT INTO wf_lost_deployments SELECT * FROM wf_deployments WHERE deployment_id = :deployment_id

-- name: lagging_numbers
SELECT found.artifact_id, MAX(found.version)
FROM wf_versions AS found LEFT JOIN wf_artifacts AS known ON known.artifact_id = found.artifact_id
GROUP BY found.artifact_id, known.last_version
HAVING known.last_version IS NULL OR known.last_version < MAX(found.version)
ORDER BY found.artifact_id

-- name: digest_of_version
SELECT digest FROM wf_versions WHERE artifact_id = :artifact_id AND version = :version

-- name: restore_digest
UPDATE wf_versions SET digest = :digest WHERE artifact_id = :artifact_id AND version = :version

-- name: progress
SELECT run.record, head.trace_count, head.steps_executed, last.first_entry + last.entries, last.steps_executed
FROM wf_runs AS run
JOIN wf_run_progress AS head ON head.run = run.number
LEFT JOIN wf_inputs AS last ON last.run = run.number AND last.position = head.position
AND last.number = (run.number << 32) + head.position -- in sqlite
WHERE run.run_id = :run_id

-- name: key_of_run
SELECT idempotency_key FROM wf_runs WHERE run_id = :run_id

-- name: restore_key
UPDATE wf_runs SET idempotency_key = :idempotency_key WHERE run_id = :run_id

-- name: keep_run
INSERT INTO wf_lost_runs SELECT * FROM wf_runs WHERE number = :run

-- name: keep_head
INSERT INTO wf_lost_run_heads SELECT * FROM wf_run_heads WHERE run = :run

-- name: keep_environment
INSERT INTO wf_lost_environments SELECT * FROM wf_environments WHERE run = :run

-- name: keep_checkpoint
INSERT INTO wf_lost_checkpoints SELECT * FROM wf_checkpoints WHERE run = :run

-- name: keep_journal
INSERT INTO wf_lost_inputs SELECT * FROM wf_inputs WHERE run = :run
AND number BETWEEN (:run << 32) AND (:run << 32) + 4294967295 -- in sqlite

-- name: keep_entries
INSERT INTO wf_lost_trace SELECT * FROM wf_trace WHERE run = :run AND number >= :first

-- name: surplus_entries
SELECT head.trace_count,
    (SELECT COUNT(*) FROM wf_trace AS entry WHERE entry.run = head.run AND entry.number >= head.trace_count)
FROM wf_runs AS run JOIN wf_run_progress AS head ON head.run = run.number
WHERE run.run_id = :run_id

-- name: orphaned_rows
SELECT run FROM wf_run_heads
UNION SELECT run FROM wf_environments
UNION SELECT run FROM wf_checkpoints
UNION SELECT run FROM wf_inputs
UNION SELECT run FROM wf_trace
EXCEPT SELECT number FROM wf_runs
ORDER BY 1

-- name: delete_head
DELETE FROM wf_run_heads WHERE run = :run

-- name: delete_environment
DELETE FROM wf_environments WHERE run = :run

-- name: delete_checkpoint
DELETE FROM wf_checkpoints WHERE run = :run

-- name: delete_entries
DELETE FROM wf_trace WHERE run = :run AND number >= :first
