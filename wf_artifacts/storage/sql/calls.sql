-- name: lock_continuation
UPDATE wf_continuations SET state = state WHERE token = :token

-- name: continuation
SELECT place, token, session_id, principal, state, document FROM wf_continuations WHERE token = :token

-- name: states_of_continuations
SELECT token, place, state FROM wf_continuations WHERE token IN (
SELECT value FROM json_each(:tokens) -- in sqlite
SELECT json_array_elements_text(:tokens::json) -- in postgres
)

-- name: insert_continuation
INSERT INTO wf_continuations (token, session_id, principal, place, state, document)
VALUES (:token, :session_id, :principal, :place, :state, :document)
ON CONFLICT (token) DO NOTHING

-- name: update_continuation
UPDATE wf_continuations SET place = :place, state = :state, document = :document WHERE token = :token

-- name: continuations_of_session
SELECT place, token, session_id, principal, state, document FROM wf_continuations WHERE session_id = :session_id

-- name: open_continuations
SELECT place, token, session_id, principal, state, document FROM wf_continuations
WHERE state = 'open' AND place < :before
AND principal = :principal -- when given
ORDER BY place DESC LIMIT :limit

-- name: all_continuations
SELECT token, place, token, session_id, principal, state, document FROM wf_continuations
WHERE token > :after
ORDER BY token LIMIT :limit

-- name: delete_continuations_of_session
DELETE FROM wf_continuations WHERE session_id = :session_id

-- name: delete_continuation
DELETE FROM wf_continuations WHERE token = :token

-- name: keep_continuation
INSERT INTO wf_lost_continuations SELECT * FROM wf_continuations WHERE token = :token

-- name: owner_of_call
SELECT session_id FROM wf_sessions WHERE session_id = :session_id
UNION ALL SELECT run_id FROM wf_runs WHERE run_id = :session_id

-- name: put_cached_result
INSERT INTO wf_cached_results (digest, created_at, document) VALUES (:digest, :created_at, :document)
ON CONFLICT (digest) DO UPDATE SET created_at = :created_at, document = :document

-- name: cached_result
SELECT digest, created_at, document FROM wf_cached_results WHERE digest = :digest

-- name: all_cached_results
SELECT digest, created_at, document FROM wf_cached_results
WHERE digest > :after
ORDER BY digest LIMIT :limit

-- name: prune_cached_results
DELETE FROM wf_cached_results WHERE created_at < :before

-- name: delete_cached_result
DELETE FROM wf_cached_results WHERE digest = :digest

-- name: keep_cached_result
INSERT INTO wf_lost_cached_results SELECT * FROM wf_cached_results WHERE digest = :digest
