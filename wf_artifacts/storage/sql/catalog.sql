-- name: lock_catalog
UPDATE wf_locks SET name = name WHERE name = 'catalog'

-- name: number_artifact
INSERT INTO wf_artifacts (artifact_id, last_version) VALUES (:artifact_id, :version)
ON CONFLICT (artifact_id) DO UPDATE SET last_version = :version

-- name: last_version
SELECT last_version FROM wf_artifacts WHERE artifact_id = :artifact_id

-- name: last_versions
SELECT artifact_id, last_version FROM wf_artifacts

-- name: insert_version
INSERT INTO wf_versions (artifact_id, version, digest, document) VALUES (:artifact_id, :version, :digest, :document)

-- name: version_document
SELECT document FROM wf_versions WHERE artifact_id = :artifact_id AND version = :version

-- name: equal_versions
SELECT version, document FROM wf_versions WHERE artifact_id = :artifact_id AND digest = :digest ORDER BY version DESC

-- name: versions
SELECT version FROM wf_versions WHERE artifact_id = :artifact_id ORDER BY version

-- name: artifact_ids
SELECT DISTINCT artifact_id FROM wf_versions

-- name: list_newest
SELECT newest.artifact_id, newest.version, found.document
FROM (
    SELECT artifact_id, MAX(version) AS version FROM wf_versions
    WHERE artifact_id > :after
    GROUP BY artifact_id ORDER BY artifact_id LIMIT :limit
) AS newest
JOIN wf_versions AS found ON found.artifact_id = newest.artifact_id AND found.version = newest.version
ORDER BY newest.artifact_id

-- name: list_versions
SELECT artifact_id, version FROM wf_versions
WHERE artifact_id >= :first AND artifact_id <= :last
ORDER BY artifact_id, version

-- name: delete_version
DELETE FROM wf_versions WHERE artifact_id = :artifact_id AND version = :version

-- name: put_deployment
INSERT INTO wf_deployments (deployment_id, document) VALUES (:deployment_id, :document)
ON CONFLICT (deployment_id) DO UPDATE SET document = :document

-- name: deployment_document
SELECT document FROM wf_deployments WHERE deployment_id = :deployment_id

-- name: deployment_ids
SELECT deployment_id FROM wf_deployments

-- name: every_deployment
SELECT deployment_id, document FROM wf_deployments

-- name: list_deployments
SELECT deployment_id, document FROM wf_deployments
WHERE deployment_id > :after
ORDER BY deployment_id LIMIT :limit

-- name: delete_deployment
DELETE FROM wf_deployments WHERE deployment_id = :deployment_id
