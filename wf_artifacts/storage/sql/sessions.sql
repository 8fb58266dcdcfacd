-- name: insert_session
INSERT INTO wf_sessions (session_id, principal, status, position, fence, owner, record)
VALUES (:session_id, :principal, :status, :position, 1, :owner, :record)
ON CONFLICT (session_id) DO NOTHING

-- name: number_of_session
SELECT number FROM wf_sessions WHERE session_id = :session_id

-- name: insert_session_header
INSERT INTO wf_session_headers (session, digest, header) VALUES (:session, :digest, :header)

-- name: insert_event
INSERT INTO wf_session_events (session, number, event, crc32) VALUES (:session, :number, :event, :crc32)

-- name: session
SELECT session_id, principal, status, position, record FROM wf_sessions
WHERE session_id = :session_id
AND principal = :principal -- when given

-- name: list_sessions
SELECT session_id, principal, status, position, record FROM wf_sessions
WHERE session_id < :before
AND principal = :principal -- when given
AND status = :status -- when given
ORDER BY session_id DESC LIMIT :limit

-- name: abandoned_sessions
SELECT session_id, principal, status, position, record FROM wf_sessions
WHERE status = 'running'
AND NOT EXISTS (SELECT 1 FROM wf_owners WHERE owner = wf_sessions.owner AND expires_at > wf_now())
ORDER BY session_id DESC

-- name: newest_sessions
SELECT session_id FROM wf_sessions
WHERE session_id < '~'
AND principal = :principal -- when given
ORDER BY session_id DESC LIMIT :limit

-- name: claim_on_session
SELECT number, fence, owner,
    EXISTS (SELECT 1 FROM wf_owners WHERE owner = wf_sessions.owner AND expires_at > wf_now())
FROM wf_sessions WHERE session_id = :session_id

-- name: take_session
UPDATE wf_sessions SET fence = fence + 1, owner = :owner WHERE number = :session AND fence = :fence

-- name: release_session
UPDATE wf_sessions SET owner = NULL WHERE number = :session AND fence = :fence AND owner = :owner

-- name: claimed_session
SELECT session_id, principal, status, position, record FROM wf_sessions
WHERE number = :session AND fence = :fence AND owner = :owner

-- name: update_session
UPDATE wf_sessions SET status = :status, position = :position, record = :record
WHERE number = :session AND fence = :fence AND owner = :owner

-- name: session_header
SELECT header.digest, header.header
FROM wf_sessions AS session LEFT JOIN wf_session_headers AS header ON header.session = session.number
WHERE session.session_id = :session_id

-- name: session_events
SELECT event.number, event.event, event.crc32
FROM wf_sessions AS session JOIN wf_session_events AS event ON event.session = session.number
WHERE session.session_id = :session_id AND event.number < session.position
ORDER BY event.number

-- name: delete_session
DELETE FROM wf_sessions WHERE number = :session

-- name: surplus_events
SELECT session.position,
    (SELECT COUNT(*) FROM wf_session_events AS event
    WHERE event.session = session.number AND event.number >= session.position)
FROM wf_sessions AS session WHERE session.session_id = :session_id

-- name: orphaned_session_rows
SELECT session FROM wf_session_headers
UNION SELECT session FROM wf_session_events
EXCEPT SELECT number FROM wf_sessions
ORDER BY 1

-- name: keep_session
INSERT INTO wf_lost_sessions SELECT * FROM wf_sessions WHERE number = :session

-- name: keep_session_header
INSERT INTO wf_lost_session_headers SELECT * FROM wf_session_headers WHERE session = :session

-- name: keep_session_events
INSERT INTO wf_lost_session_events SELECT * FROM wf_session_events WHERE session = :session AND number >= :first

-- name: delete_session_header
DELETE FROM wf_session_headers WHERE session = :session

-- name: delete_session_events
DELETE FROM wf_session_events WHERE session = :session AND number >= :first
