import * as Domain from "@waybill/domain/domain/Domain"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import * as DomainName from "@waybill/domain/values/DomainName"
import type { AccountId, DomainId } from "@waybill/domain/values/Id"
import * as TrackingDomain from "@waybill/domain/domain/TrackingDomain"
import * as DnsCheck from "@waybill/mail/dns/DomainCheck"
import * as DomainRecords from "@waybill/mail/dns/DomainRecords"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { Commit, View } from "@waybill/store/commit/Commit"
import { Effect, Result } from "effect"
import { newDkimKey } from "./newDkimKey.ts"
import * as NewIds from "../process/NewIds.ts"
import { Instance, type RecordSettings } from "../settings/Instance.ts"

type Published = Pick<DomainState.Domain, "name" | "dkim" | "next_dkim" | "ed25519" | "tracking_domain" | "receiving">

/** Returns the records that the owner of a domain has to publish. */
export const expectedRecords = (domain: Published, { mailHost, returnPath, trackingHost }: RecordSettings) =>
  DomainRecords.expectedRecords(
    domain.name,
    // Only the key that signs now is required: a new key signs once DNS shows it, and the second signature is optional.
    Domain.publishedKeys(domain).map((key) => ({ ...key, required: key.selector === domain.dkim.selector })),
    {
      return_path: returnPath,
      tracking: trackingRecord(domain, trackingHost),
      mailHost: domain.receiving === true ? mailHost : undefined,
    },
  )

const trackingRecord = ({ name, tracking_domain }: Published, target: string | null) =>
  tracking_domain === undefined || target === null
    ? undefined
    : { host: TrackingDomain.hostOf(tracking_domain.name, name), target }

/** Returns the commit that adds a domain, with its key generated and sealed. */
export const addition = Effect.fn("domains.addition")(function* (account_id: AccountId, name: DomainName.DomainName) {
  const { transport } = yield* Instance
  const domainId = yield* NewIds.newId("DomainId")
  const dkim = yield* newDkimKey(account_id, domainId, "rsa", Domain.nextSelector(null, "rsa"))
  const at = yield* NewIds.now
  return {
    account_id,
    streams: [{ aggregate: Domain, id: domainId, isNew: true }],
    needs: { domains: [name], countOf: "domain" },
    decide: (view) => {
      const taken = view.facts.domain(account_id, name) !== undefined
      const decide = Domain.add({
        now: at,
        domainId,
        name,
        dkim,
        transport: null,
        taken,
        others: view.facts.countOf(account_id, "domain"),
        captured: transport === "capture",
      })
      return Result.map(decide(Domain.initial), (events) => ({
        append: [{ aggregate: Domain, id: domainId, events }],
        answer: events.reduce(Domain.evolve, Domain.initial),
      }))
    },
  } satisfies Commit<Domain.State, unknown>
})

interface Lease {
  readonly id: string
  readonly token: string
}

/**
 * Checks the DNS records of a domain and commits the result, under the lease of the check if there is one. Returns the
 * domain afterwards, or undefined if nothing changed.
 */
export const check = Effect.fn("domains.check")(function* (account_id: AccountId, id: DomainId, lease?: Lease) {
  const store = yield* EventStore
  const state = yield* store.state(Domain, { account_id, stream_id: id })
  if (state._tag !== "Domain") return undefined
  const decide = yield* checkDns(state)
  const commit = {
    account_id,
    streams: [{ aggregate: Domain, id }],
    decide: (view: View) => {
      const before = view.state<Domain.State>(Domain, id)
      return Result.map(decide(before), (events) => ({
        append: [{ aggregate: Domain, id, events }],
        answer: events.reduce(Domain.evolve, before),
      }))
    },
  }
  const committing = lease === undefined ? store.transact(commit) : store.transact({ ...commit, leases: [lease] })
  // Nothing changed, the domain was removed meanwhile, or another process holds the lease.
  return yield* Effect.catch(committing, (error) =>
    error._tag === "StoreUnavailable" ? Effect.fail(error) : Effect.succeed(undefined),
  )
})

const checkDns = Effect.fnUntraced(function* (domain: DomainState.Domain) {
  const { transport, ...settings } = yield* Instance
  const captured = (domain.transport ?? transport) === "capture"
  if (captured && DomainName.isReserved(domain.name)) return DomainCheck.verifyReserved(yield* NewIds.now)
  const { records, zone } = yield* DnsCheck.check(domain.name, expectedRecords(domain, settings))
  return DomainCheck.recordCheck(yield* NewIds.now, records, zone)
})
