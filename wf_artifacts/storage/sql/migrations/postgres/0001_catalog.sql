CREATE TABLE wf_locks (
    name TEXT PRIMARY KEY
);
INSERT INTO wf_locks VALUES ('catalog');
CREATE TABLE wf_artifacts (
    artifact_id TEXT COLLATE "C" PRIMARY KEY,
    last_version INTEGER NOT NULL
);
CREATE TABLE wf_versions (
    artifact_id TEXT COLLATE "C" NOT NULL REFERENCES wf_artifacts,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    document BYTEA NOT NULL,
    PRIMARY KEY (artifact_id, version)
);
CREATE TABLE wf_deployments (
    deployment_id TEXT COLLATE "C" PRIMARY KEY,
    document BYTEA NOT NULL
);
