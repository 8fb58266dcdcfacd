-- name: renew_owner
INSERT INTO wf_owners (owner, expires_at) VALUES (:owner, wf_now() + :lease)
ON CONFLICT (owner) DO UPDATE SET expires_at = wf_now() + :lease

-- name: leases
SELECT owner, expires_at <= wf_now() FROM wf_owners

-- name: forget_owner
DELETE FROM wf_owners WHERE owner = :owner

-- name: forget_expired
DELETE FROM wf_owners WHERE expires_at <= wf_now()
