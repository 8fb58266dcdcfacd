-- name: locks
SELECT name FROM wf_locks

-- name: restore_lock
INSERT INTO wf_locks (name) VALUES (:lock) ON CONFLICT (name) DO NOTHING
