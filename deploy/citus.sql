-- Spreads Tidemark's tables over the workers of a Citus: `psql DATABASE -f deploy/citus.sql`, on the coordinator, after the first start
-- of a server and before anybody writes. May be run again, and is to be run again after an update. Why and when: deploy/citus.md.

-- What each step of the order looks at, whatever its workspace, is on every node.
SELECT create_reference_table(name::regclass)
FROM unnest(ARRAY['sync_fence']) AS name
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass);

-- All else goes by workspace, to the place of the workspace's own row: a transaction meets one worker.
SELECT create_distributed_table('sync_workspace', 'workspace', colocate_with => 'none')
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'sync_workspace'::regclass);

SELECT create_distributed_table(name::regclass, 'workspace', colocate_with => 'sync_workspace')
FROM unnest(ARRAY[
    'sync_account', 'sync_backup', 'sync_batch', 'sync_blob', 'sync_blob_part', 'sync_blob_scope', 'sync_blob_usage', 'sync_client',
    'sync_erasure', 'sync_ledger', 'sync_lineage', 'sync_listener', 'sync_member', 'sync_member_past', 'sync_record',
    'sync_sign_in'
]) AS name
WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass);

-- Stay with the coordinator, since they are few rows, read as a whole: sync_schema, sync_revocation with its head, sync_act, sync_probe,
-- sync_migration, sync_step.
