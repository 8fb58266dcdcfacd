-- name: insert_run
INSERT INTO wf_runs (run_id, principal, deployment_id, status, idempotency_key, record)
VALUES (:run_id, :principal, :deployment_id, :status, :idempotency_key, :record)
ON CONFLICT (idempotency_key) DO NOTHING

-- name: number_of_run
SELECT number FROM wf_runs WHERE run_id = :run_id

-- name: insert_head
INSERT INTO wf_run_heads (run, fence, owner, trace_count, steps_executed, journal_bytes)
VALUES (:run, :fence, :owner, :trace_count, :steps_executed, 0)

-- name: insert_environment
INSERT INTO wf_environments (run, digest, document) VALUES (:run, :digest, :document)

-- name: put_checkpoint
INSERT INTO wf_checkpoints (run, document, state) VALUES (:run, :document, :state)
ON CONFLICT (run) DO UPDATE SET document = :document, state = :state

-- name: run_of_key
SELECT run.run_id, run.principal, run.deployment_id, run.status, run.record, head.trace_count, head.steps_executed
FROM wf_runs AS run LEFT JOIN wf_run_progress AS head ON head.run = run.number
WHERE run.idempotency_key = :idempotency_key

-- name: run
SELECT run.run_id, run.principal, run.deployment_id, run.status, run.record, head.trace_count, head.steps_executed
FROM wf_runs AS run LEFT JOIN wf_run_progress AS head ON head.run = run.number
WHERE run.run_id = :run_id
AND run.principal = :principal -- when given

-- name: list_runs
SELECT run.run_id, run.principal, run.deployment_id, run.status, run.record, head.trace_count, head.steps_executed
FROM wf_runs AS run LEFT JOIN wf_run_progress AS head ON head.run = run.number
WHERE run.run_id < :before
AND run.principal = :principal -- when given
AND run.status = :status -- when given
AND run.deployment_id = :deployment_id -- when given
ORDER BY run.run_id DESC LIMIT :limit

-- name: abandoned_runs
SELECT run.run_id, run.principal, run.deployment_id, run.status, run.record, head.trace_count, head.steps_executed
FROM wf_runs AS run LEFT JOIN wf_run_progress AS head ON head.run = run.number
WHERE run.status = 'running'
AND NOT EXISTS (SELECT 1 FROM wf_owners WHERE owner = head.owner AND expires_at > wf_now())
ORDER BY run.run_id DESC

-- name: newest_ids
SELECT run_id FROM wf_runs
WHERE run_id < '~'
AND principal = :principal -- when given
ORDER BY run_id DESC LIMIT :limit

-- name: claim_on_run
SELECT run.number, head.fence, head.owner,
    EXISTS (SELECT 1 FROM wf_owners WHERE owner = head.owner AND expires_at > wf_now())
FROM wf_runs AS run JOIN wf_run_heads AS head ON head.run = run.number
WHERE run.run_id = :run_id

-- name: take_run
UPDATE wf_run_heads SET fence = fence + 1, owner = :owner WHERE run = :run AND fence = :fence

-- name: release_run
UPDATE wf_run_heads
SET owner = NULL, (trace_count, steps_executed, position, journal_bytes) =
    (SELECT trace_count, steps_executed, position, journal_bytes FROM wf_run_progress AS found WHERE found.run = :run)
WHERE run = :run AND fence = :fence AND owner = :owner

-- name: claimed_run
SELECT run.run_id, run.principal, run.deployment_id, run.status, run.record, head.trace_count, head.steps_executed,
    head.position, head.journal_bytes
FROM wf_runs AS run JOIN wf_run_progress AS head ON head.run = run.number
WHERE run.number = :run AND head.fence = :fence AND head.owner = :owner

-- name: update_run
UPDATE wf_runs SET status = :status, record = :record WHERE number = :run

-- name: move_head
UPDATE wf_run_heads
SET trace_count = :trace_count, steps_executed = :steps_executed, position = :position, journal_bytes = :journal_bytes
WHERE run = :run AND fence = :fence AND owner = :owner

-- name: insert_entry
INSERT INTO wf_trace (run, number, entry, crc32) VALUES (:run, :number, :entry, :crc32)

-- name: insert_inputs
INSERT INTO wf_inputs (run, position, steps_executed, lines, crc32, first_entry, entries, journal_bytes
, number -- in sqlite
) SELECT run, :position, :steps_executed, :lines, :crc32, :first_entry, :entries, :journal_bytes
, (run << 32) + :position -- in sqlite
FROM wf_run_heads WHERE run = :run AND fence = :fence AND owner = :owner
FOR NO KEY UPDATE -- in postgres

-- name: clear_journal
DELETE FROM wf_inputs WHERE run = :run
AND number BETWEEN (:run << 32) AND (:run << 32) + 4294967295 -- in sqlite

-- name: environment
SELECT environment.digest, environment.document
FROM wf_runs AS run LEFT JOIN wf_environments AS environment ON environment.run = run.number
WHERE run.run_id = :run_id

-- name: checkpoint
SELECT checkpoint.document, checkpoint.state
FROM wf_runs AS run LEFT JOIN wf_checkpoints AS checkpoint ON checkpoint.run = run.number
WHERE run.run_id = :run_id

-- name: ends
SELECT run.number, head.trace_count, head.journal_bytes, head.position
FROM wf_runs AS run JOIN wf_run_progress AS head ON head.run = run.number
WHERE run.run_id = :run_id

-- name: journal
SELECT position, lines, crc32, steps_executed, journal_bytes, first_entry, entries FROM wf_inputs
WHERE run = :run
AND number BETWEEN (:run << 32) AND (:run << 32) + 4294967295 -- in sqlite
ORDER BY position

-- name: journal_of_entries
SELECT position, lines, crc32, steps_executed, journal_bytes, first_entry, entries FROM wf_inputs
WHERE run = :run AND first_entry < :end AND first_entry + entries > :first
AND number BETWEEN (:run << 32) AND (:run << 32) + 4294967295 -- in sqlite
ORDER BY position

-- name: entries
SELECT number, entry, crc32 FROM wf_trace WHERE run = :run AND number >= :first AND number < :end ORDER BY number

-- name: delete_run
DELETE FROM wf_runs WHERE number = :run
