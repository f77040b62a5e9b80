-- Bits that say about a message more than its status (see EmailFacets.ts): the statuses of its recipients where they
-- differ, and whether it is queued for a later time. 0 for nearly all messages, which the index therefore skips.
ALTER TABLE email_log ADD COLUMN facets integer NOT NULL DEFAULT 0;

-- Before the first release these tables are empty wherever this runs, so nobody waits for it.
UPDATE email_log AS l SET facets = known.facets
FROM (
  SELECT account_id, id,
    (CASE WHEN count(*) > 1 THEN bit_or(1 << (array_position(
      ARRAY['queued', 'deferred', 'sent', 'delivered', 'bounced', 'failed', 'suppressed', 'canceled', 'complained'],
      counted.status) - 1)) ELSE 0 END)
    | (CASE WHEN m.status = 'queued' AND m.record ->> 'scheduled_at' IS NOT NULL THEN 512 ELSE 0 END) AS facets
  FROM email_log m CROSS JOIN LATERAL json_object_keys(m.record -> 'recipient_counts') AS counted(status)
  GROUP BY account_id, id
) AS known
WHERE l.account_id = known.account_id AND l.id = known.id AND known.facets > 0;

-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_log_by_facets ON email_log (account_id, facets, id) WHERE facets > 0;
