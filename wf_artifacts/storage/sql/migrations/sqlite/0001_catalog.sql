CREATE TABLE wf_locks (
    name TEXT PRIMARY KEY
) WITHOUT ROWID;
INSERT INTO wf_locks VALUES ('catalog');
CREATE TABLE wf_artifacts (
    artifact_id TEXT PRIMARY KEY,
    last_version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE wf_versions (
    artifact_id TEXT NOT NULL REFERENCES wf_artifacts,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    document BLOB NOT NULL,
    PRIMARY KEY (artifact_id, version)
);
CREATE TABLE wf_deployments (
    deployment_id TEXT PRIMARY KEY,
    document BLOB NOT NULL
);
