import * as ApiKey from "@waybill/domain/account/ApiKey"
import { Sha256 } from "@waybill/domain/values/Sha256"
import * as Email from "@waybill/domain/email/Email"
import type { AccountId, ApiKeyId, EmailId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Commit } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Watermark from "@waybill/store/locks/Watermark"
import type { Client } from "@waybill/store/postgres/Sql"
import { Data, Effect, Result } from "effect"
import { randomBytes } from "node:crypto"
import { id, opened, queued } from "../../support/history.ts"

export class Refused extends Data.TaggedError("Refused")<{ readonly why: string }> {}

/** A decision for `commit`: an email is opened once more. */
export const open = (): Result.Result<[Email.Event], never> => Result.succeed([opened()])

/** A commit for `transact`: a new email. */
export const send = (
  account_id: AccountId,
  over: Partial<Commit<EmailId, Refused>> = {},
  fields: Readonly<Record<string, unknown>> = {},
): Commit<EmailId, Refused> => {
  const email = id("EmailId")
  return {
    account_id,
    streams: [{ aggregate: Email, id: email, isNew: true }],
    decide: () =>
      Result.succeed({ append: [{ aggregate: Email, id: email, events: [queued(email, fields)] }], answer: email }),
    ...over,
  }
}

/** A commit of a new API key, refused when the account has `most` keys. */
export const addKey = (account_id: AccountId, most: number): Commit<ApiKeyId, Refused> => {
  const key_id = id("ApiKeyId")
  const created: ApiKey.Event = {
    _tag: "KeyCreated",
    key_id,
    name: "x",
    prefix: "wb_aaaaaaa",
    hash: Sha256.make(randomBytes(32).toString("hex")),
    scopes: ["admin"],
    domain: null,
    allowed_ips: [],
    expires_at: null,
    created_by: null,
    at: Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z"),
  }
  return {
    account_id,
    streams: [{ aggregate: ApiKey, id: key_id, isNew: true }],
    needs: { countOf: "api_key" },
    decide: ({ facts }) =>
      facts.countOf(account_id, "api_key") < most
        ? Result.succeed({ append: [{ aggregate: ApiKey, id: key_id, events: [created] }], answer: key_id })
        : Result.fail(new Refused({ why: "full" })),
  }
}

/** Announces a writer, as the lock of a batch does. */
export const announce = <E>(sql: Client<E>) => sql`
  SELECT 1 AS announced FROM (${Watermark.announcement(sql, sql`true`)}) AS announcement`

/** Accepts and opens that many emails, each of an account of its own. */
export const openedMail = (count: number) =>
  Effect.forEach(
    Array.from({ length: count }),
    () =>
      Effect.gen(function* () {
        const { commit, transact } = yield* EventStore
        const account_id = id("AccountId")
        const answer = yield* transact(send(account_id))
        yield* commit(Email, { account_id, stream_id: answer }, open)
      }),
    { concurrency: 32, discard: true },
  ).pipe(Effect.orDie)
