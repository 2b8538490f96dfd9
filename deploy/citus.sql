-- Spreads Tidemark's tables over the workers of a Citus: `psql DATABASE -f deploy/citus.sql`, on the coordinator, after the first start
-- of a server and before any writes. It may be run again, and must be after an update. Why and when: deploy/citus.md.

-- Tables that each step of the order reads, whatever its workspace, are on every node.
SELECT create_reference_table(name::regclass)
FROM unnest(ARRAY['sync_fence']) AS name
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass);

-- All others are distributed by workspace, beside the workspace's own row: a transaction uses one worker.
SELECT create_distributed_table('sync_workspace', 'workspace', colocate_with => 'none')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'sync_workspace'::regclass);

SELECT create_distributed_table(name::regclass, 'workspace', colocate_with => 'sync_workspace')
FROM unnest(ARRAY[
    'sync_account', 'sync_backup', 'sync_batch', 'sync_blob', 'sync_blob_part', 'sync_blob_scope', 'sync_blob_usage', 'sync_client',
    'sync_erasure', 'sync_ledger', 'sync_lineage', 'sync_listener', 'sync_member', 'sync_member_past', 'sync_record',
    'sync_sign_in'
]) AS name
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass);

-- These stay on the coordinator, since they are few rows, read as a whole: sync_schema, sync_revocation with its head, sync_act, sync_probe,
-- sync_step.
