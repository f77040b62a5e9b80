import * as Domain from "@waybill/domain/domain/Domain"
import * as Uuid from "@waybill/domain/values/Uuid"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Layer, Result } from "effect"
import { Resend } from "resend"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import * as World from "../../support/world/World.ts"
import { dkimKey, domainName } from "../../domain/values/examples.ts"

layer(World.layer, { excludeTestServices: true })("a webhook of the format resend about domains", (it) => {
  it.effect("gets the domain as each event left it, with the records to publish", function* () {
    const { url } = yield* Database.Fresh
    yield* Layer.build(Webhooks.worker(url))
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { format: "resend", svix_headers: true })
    const { account_id } = endpoint
    const domain_id = id("DomainId")
    const named = { domain_id, name: domainName("acme.test") }
    const { commit } = yield* EventStore
    const at = yield* Webhooks.now
    const append = (...events: readonly [Domain.Event, ...Array<Domain.Event>]) =>
      commit(Domain, { account_id, stream_id: domain_id }, () => Result.succeed(events))
    const dkim = dkimKey()
    const found = { found: [], error: null } as const
    yield* append({ _tag: "DomainAdded", ...named, dkim, transport: null, next_check_at: at, at })
    yield* append(
      {
        _tag: "DomainChecked",
        records: [{ purpose: "dkim", host: `${dkim.selector}._domainkey`, status: "verified", ...found }],
        next_check_at: at,
        at,
      },
      { _tag: "DomainVerified", ...named, method: "dns", at },
    )
    yield* append({ _tag: "DomainDegraded", ...named, at })
    yield* append({ _tag: "DomainFailed", ...named, at })
    yield* append({ _tag: "DomainRemoved", ...named, at })
    yield* Webhooks.settledAll(endpoint, 5)

    const { webhooks } = new Resend("re_123")
    const got = receiver.calls.map(({ body, headers }) => {
      const of = (name: string): string => headers[`svix-${name}`] ?? ""
      const signed = { id: of("id"), timestamp: of("timestamp"), signature: of("signature") }
      const event = webhooks.verify({ payload: body, headers: signed, webhookSecret: endpoint.secret })
      if (event.type !== "domain.created" && event.type !== "domain.updated" && event.type !== "domain.deleted")
        throw new Error(`${event.type} came`)
      const { records, status, ...data } = event.data
      assert.deepStrictEqual<unknown>(data, {
        id: Uuid.of(domain_id),
        name: "acme.test",
        created_at: at,
        region: "us-east-1",
      })
      assert.deepStrictEqual(
        records.map(({ name, record, type }) => [record, type, name]),
        [
          ["DKIM", "TXT", `${dkim.selector}._domainkey`],
          ["SPF", "CNAME", "bounce"],
        ],
      )
      return `${event.type} ${status} ${records[0]?.status}`
    })
    assert.deepStrictEqual(got.toSorted(), [
      "domain.created not_started not_started",
      "domain.deleted failed verified",
      "domain.updated failed verified",
      "domain.updated partially_failed verified",
      "domain.updated verified verified",
    ])
  })
})
