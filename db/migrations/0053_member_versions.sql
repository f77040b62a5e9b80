-- Earlier releases gave all members of a team the version of the last event of the team. The row of a member has the version
-- of the event that last changed that member, as a rebuild computes it.

-- Commits that change members wait, so that no row is set to a version that it has left behind.
LOCK TABLE members IN SHARE ROW EXCLUSIVE MODE;

UPDATE members AS m SET version = last.version
FROM (SELECT DISTINCT account_id FROM members) AS a CROSS JOIN LATERAL (
  SELECT e.account_id, e.data ->> 'user_id' AS user_id, max(e.version) AS version
  FROM events e
  WHERE e.account_id = a.account_id AND e.stream_id = 'team' AND e.stream = 'team'
    AND e.type IN ('MemberInvited', 'MemberJoined', 'MemberRoleChanged', 'MemberRemoved')
  GROUP BY 1, 2
) AS last
WHERE m.account_id = last.account_id AND m.user_id = last.user_id AND m.version <> last.version;
