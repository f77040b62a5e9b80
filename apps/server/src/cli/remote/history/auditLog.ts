import { auditStreams } from "@waybill/domain/stream/auditStreams"
import type * as T from "@waybill/client/Waybill"
import { Command } from "effect/cli"
import * as Options from "../../Options.ts"
import { ApiClient } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import * as ApiCommand from "../ApiCommand.ts"
import * as DataCommand from "../../DataCommand.ts"

const COLUMNS = ["occurred_at", "actor", "action", "object", "changes"]

const changeOf = ({ field, from, to }: T.AuditChange): string =>
  `${field}: ${from === null ? "" : `${from} → `}${to ?? "none"}`

/** Names the object by its name. One without a name, or that is the account itself, is named by its kind. */
const objectOf = ({ stream, stream_id, target_name }: T.AuditEntry): string => {
  if (stream === "account") return stream
  return target_name ?? `${stream} ${stream_id}`
}

const shown = (entry: T.AuditEntry) => ({
  occurred_at: entry.occurred_at,
  actor: entry.actor_name ?? entry.actor.id ?? entry.actor.type,
  action: entry.type,
  object: objectOf(entry),
  changes: entry.changes.length === 0 ? null : entry.changes.map(changeOf).join("; "),
})

const list = ApiCommand.list(
  {
    q: Options.text("search", "Words of the action, or of the name or id of the object or the actor"),
    stream: Options.oneOf("object", auditStreams, "Only changes of this kind of object; members are team"),
    actor_id: Options.text("actor", "Only by this key or member: key_… or usr_…"),
    created_after: Flags.time("since", "Only changes at or after"),
    created_before: Flags.time("until", "Only changes before"),
  },
  COLUMNS,
  "No changes match.",
  (client, filters) => client.audit.all(filters as T.AuditQuery),
  shown,
)

export const auditLog = DataCommand.group({
  list: ["List who changed what, newest first", list],
})
  .with(
    Command.withExamples([
      {
        command: "waybill audit-log list --object webhook --since 7d",
        description: "Who changed a webhook this week?",
      },
    ]),
  )
  .with(Command.provide(ApiClient.layer))
