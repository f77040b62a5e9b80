import type { ChangedStream } from "../log/StreamRef.ts"
import { sendingDomains } from "../postgres/sendingDomains.ts"
import type { Client } from "../postgres/Sql.ts"
import type { Name } from "../routing/directory/AccountNames.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Domains from "./Domains.ts"
import * as Members from "./Members.ts"
import { rowsOf } from "./ReadModel.ts"

/** Names that changed streams give their accounts. */
export const ofStreams = (changedStreams: ReadonlyArray<ChangedStream>): ReadonlyArray<Name> => {
  // The name of a key that is revoked has been written before, so that keys are revoked also while home is away.
  const keys = rowsOf(ApiKeys.readModel, changedStreams)
    .filter(({ revoked_at }) => revoked_at === null)
    .map(({ account_id, hash }): Name => ({ kind: "api_key", name: hash, account_id }))
  const users = rowsOf(Members.readModel, changedStreams).map(({ account_id, user_id }): Name => ({
    kind: "user",
    name: user_id,
    account_id,
  }))
  // A host that is no longer tracked stays: links of mail that was sent lead there.
  const hosts = rowsOf(Domains.readModel, changedStreams).flatMap(({ account_id, record }): ReadonlyArray<Name> => {
    const name = Domains.trackingNameOf(record)
    return name === undefined ? [] : [{ kind: "tracking_host", name, account_id }]
  })
  // Later changes of a domain do not need home.
  const begun = changedStreams.filter(({ added }) => added.some(({ event }) => event._tag === "DomainVerified"))
  const domains = rowsOf(Domains.readModel, begun).map(({ account_id, name }): Name => ({
    kind: "domain",
    name: `${name} ${account_id}`,
    account_id,
  }))
  return [...keys, ...users, ...hosts, ...domains]
}

/** Names of all accounts of the client's database, or of some, from its read models. */
export const read = <E>(sql: Client<E>, account_ids: ReadonlyArray<string> | null = null) => sql<Name>`
  SELECT * FROM (
    SELECT 'api_key' AS kind, hash AS name, account_id FROM api_keys
    UNION ALL SELECT 'user', user_id, account_id FROM members
    UNION ALL SELECT 'tracking_host', name, account_id FROM (${Domains.tracking(sql)}) AS hosts
    UNION ALL SELECT 'domain', name || ' ' || account_id, account_id FROM domains
      WHERE ${sendingDomains(sql)}) AS names
  WHERE ${account_ids}::text[] IS NULL OR account_id = ANY(${account_ids}::text[])`
