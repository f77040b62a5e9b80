import * as PageBytes from "@waybill/store/feed/PageBytes"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect } from "effect"
import * as Paging from "../../../apps/server/src/compat/postmark/Paging.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { largeRecipients } from "../../support/mail/largeMail.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const MESSAGES = 70
/** Length of a page's JSON, as a multiple of its stored bytes: a record has the recipients of its message twice. */
const MAX_GROWTH = 2.5

/** An account with large messages. */
const withLargeMail = Effect.gen(function* () {
  const signedUp = yield* signUp()
  const ids: Array<string> = []
  for (let nth = 0; nth < MESSAGES; nth++) ids.push(yield* Webhooks.acceptEmail(signedUp.account, largeRecipients()))
  return { ...signedUp, ids }
})

interface Page {
  readonly has_more: boolean
  readonly next_cursor: string
  readonly next_position: string
  readonly data: ReadonlyArray<Readonly<Record<string, string>>>
}

/** Reads all pages of a list, and checks that the first ends early and that none is too long. */
const readAll = Effect.fnUntraced(function* (
  { call }: Effect.Success<typeof withLargeMail>,
  pathOf: (last: Page | undefined) => string,
) {
  const pages: Array<Page> = []
  do {
    const { json, status, text } = yield* call("GET", pathOf(pages.at(-1)))
    assert.strictEqual(status, 200, text)
    assert.isBelow(text.length, MAX_GROWTH * PageBytes.MAX_PAGE_BYTES)
    pages.push(json)
  } while (pages.at(-1)?.has_more === true)
  assert.isBelow(pages[0]?.data.length ?? 0, MESSAGES / 2)
  assert.isAtMost(pages.length, MESSAGES / 10)
  return pages.map(({ data }) => data)
})

layer(HttpWorld.layer(), { excludeTestServices: true })("lists of large messages", (it) => {
  // threat: large-pages
  it.effect("end a page by its bytes, and the next one goes on without a gap", function* () {
    const account = yield* withLargeMail
    for (const include of ["", "&include=webhook_payload"]) {
      const events = yield* readAll(
        account,
        (last) => `/v1/events?types=email.queued&limit=1000${include}&after_position=${last?.next_position ?? "0"}`,
      )
      assert.deepStrictEqual(
        events.flat().map((event) => event["stream_id"]),
        account.ids,
        include,
      )
    }
    const [oldest = "", ...newer] = account.ids.toSorted()
    for (const filter of ["", "&tag=receipt&status=queued"]) {
      const older = yield* readAll(
        account,
        (last) => `/v1/email/logs?limit=100${filter}${last === undefined ? "" : `&after=${last.next_cursor}`}`,
      )
      const idsOf = older.flat().map((record) => record["id"])
      assert.deepStrictEqual(idsOf, [...newer.toReversed(), oldest], filter)
    }
    const towardsNewer = yield* readAll(
      account,
      (last) => `/v1/email/logs?limit=100&before=${last?.next_cursor ?? oldest}`,
    )
    assert.deepStrictEqual(
      towardsNewer
        .toReversed()
        .flat()
        .map((record) => record["id"]),
      newer.toReversed(),
    )
  })

  it.effect("of Postmark answer as many as fit, and say how many if more are asked for", function* () {
    const { ids, key, world } = yield* withLargeMail
    const list = (query: string) =>
      world.request("GET", `/compat/postmark/messages/outbound?${query}`, {
        headers: { "x-postmark-server-token": key },
      })
    const all = yield* list("count=500")
    assert.deepStrictEqual([all.status, all.json.ErrorCode], [422, 700])
    const most = Number(/`count` must be less than (\d+) /u.exec(all.json.Message)?.[1]) - 1
    const shown: Array<string> = []
    for (let offset = 0; offset < ids.length; offset += most) {
      const { json, status, text } = yield* list(`count=${most}&offset=${offset}`)
      assert.strictEqual(status, 200, text)
      assert.isBelow(text.length, 1.1 * Paging.MAX_ANSWER_CHARS)
      shown.push(
        ...json.Messages.map(({ MessageID }: { readonly MessageID: string }) => Uuid.idOf("EmailId", MessageID)),
      )
    }
    assert.deepStrictEqual(shown, ids.toSorted().toReversed())
  })
})
