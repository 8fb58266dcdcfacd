-- name: mark_unfinished
INSERT INTO wf_locks (name) VALUES ('unfinished copy') ON CONFLICT (name) DO NOTHING

-- name: mark_whole
DELETE FROM wf_locks WHERE name = 'unfinished copy'

-- name: unfinished
SELECT name FROM wf_locks WHERE name = 'unfinished copy'

-- name: clear_deployments
DELETE FROM wf_deployments

-- name: clear_versions
DELETE FROM wf_versions

-- name: clear_artifacts
DELETE FROM wf_artifacts

-- name: clear_runs
DELETE FROM wf_runs

-- name: clear_sessions
DELETE FROM wf_sessions

-- name: clear_continuations
DELETE FROM wf_continuations

-- name: clear_cached_results
DELETE FROM wf_cached_results

-- name: unfinished_to_writers
SELECT name FROM wf_locks WHERE name = 'unfinished copy'
FOR KEY SHARE -- in postgres

-- name: await_writers
SELECT 1 -- in sqlite
LOCK TABLE wf_locks IN EXCLUSIVE MODE -- in postgres

-- name: holds_something
SELECT 1 WHERE EXISTS (SELECT 1 FROM wf_artifacts)
OR EXISTS (SELECT 1 FROM wf_deployments)
OR EXISTS (SELECT 1 FROM wf_runs)
OR EXISTS (SELECT 1 FROM wf_sessions)
OR EXISTS (SELECT 1 FROM wf_continuations)
OR EXISTS (SELECT 1 FROM wf_cached_results)
