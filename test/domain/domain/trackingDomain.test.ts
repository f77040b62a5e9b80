import type * as DnsFinding from "@waybill/domain/domain/DnsFinding"
import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import * as TrackingDomain from "@waybill/domain/domain/TrackingDomain"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { addDomain, after, domainName, foldedDomain } from "../values/examples.ts"

const { MINUTE, HOUR, DAY } = Timestamp
const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const

const finding = (status: DnsFinding.Status): DnsFinding.DnsFinding => ({
  purpose: "dkim",
  host: "wb1._domainkey",
  status,
  found: [],
  error: null,
})
const leading = (status: DnsFinding.Status, host = "links"): DnsFinding.DnsFinding => ({
  purpose: "tracking",
  host,
  status,
  found: [],
  error: null,
})

const added = (name: string, captured = false) => happened(Domain, [], addDomain(name, captured))
const verified = () =>
  happened(Domain, added("acme.com"), DomainCheck.recordCheck(after(MINUTE), [finding("verified")]))

describe("tracking domain", () => {
  it("a tracking domain is used while its record is published, and affects nothing else", () => {
    const links = domainName("links.acme.com")
    const over = (domain: typeof links | null) => Domain.track(after(HOUR), { opens: null, clicks: null, domain })
    const look = (at: number, status: DnsFinding.Status, host?: string) =>
      DomainCheck.recordCheck(after(at), [finding("verified"), leading(status, host)])
    given(Domain, ...verified())
      .when(over(links))
      .appends({
        _tag: "TrackingDomainSet",
        name: links,
        next_check_at: after(HOUR + MINUTE),
        at: after(HOUR),
      })
    let history = happened(Domain, verified(), over(links))
    const standing = () => {
      const { next_check_at, status, tracking_domain } = foldedDomain(history)
      return [status, tracking_domain?.verified, next_check_at]
    }
    // The record is checked soon, then hourly. A failed query and another name's record change nothing.
    for (const [hours, status, host, expected] of [
      [2, "missing", "links", ["verified", false, after(3 * HOUR)]],
      [3, "verified", "other", ["verified", false, after(4 * HOUR)]],
      [4, "verified", "links", ["verified", true, after(4 * HOUR + DAY)]],
      [5, "unavailable", "links", ["verified", true, after(5 * HOUR + DAY)]],
      [6, "mismatch", "links", ["verified", false, after(7 * HOUR)]],
      [7, "verified", "links", ["verified", true, after(7 * HOUR + DAY)]],
    ] as const) {
      history = happened(Domain, history, look(hours * HOUR, status, host))
      assert.deepStrictEqual(standing(), [...expected])
    }
    given(Domain, ...history)
      .when(over(links))
      .refuses(NOTHING_NEW)
    // Another name, or the same name set again, starts unverified.
    for (const name of [domainName("l.acme.com"), links]) {
      history = happened(Domain, history, over(name))
      assert.deepStrictEqual(standing(), ["verified", false, after(HOUR + MINUTE)])
    }
    history = happened(Domain, history, look(7 * HOUR + 1, "verified"))
    assert.strictEqual(standing()[1], true)
    history = happened(Domain, history, over(null))
    assert.notProperty(foldedDomain(history), "tracking_domain")
    assert.deepStrictEqual(foldedDomain(history).records, [finding("verified")])
    given(Domain, ...history)
      .when(over(null))
      .refuses(NOTHING_NEW)
  })
  it("a tracking domain is below its domain, and is set together with tracking", () => {
    const over = (name: string, opens: boolean | null = null) =>
      Domain.track(after(1), { opens, clicks: null, domain: domainName(name) })
    for (const name of ["acme.com", "links.acme.net", "evilacme.com", "com.acme"])
      given(Domain, ...verified())
        .when(over(name, true))
        .refuses({ status: 422, reason: "not_below_domain" })
    given(Domain, ...verified())
      .when(over("a.links.acme.com", true))
      .appendsOnly("DomainTrackingChanged", "TrackingDomainSet")
  })
  it("a tracking domain is set at most ten times in 24 hours", () => {
    const set = (at: number, name: string | null) =>
      Domain.track(after(at), { opens: null, clicks: null, domain: name === null ? null : domainName(name) })
    let history = verified()
    for (let nth = 0; nth < TrackingDomain.MAX_CHANGES_PER_DAY; nth++)
      history = happened(Domain, history, set(nth * MINUTE, `l${nth}.acme.com`))
    given(Domain, ...history)
      .when(set(DAY - 1, "more.acme.com"))
      .refuses({ status: 422, reason: "too_many_tracking_domains" })
    // It can be removed, tracking can be changed, and the present name is no change.
    given(Domain, ...history)
      .when(set(DAY - 1, null))
      .appendsOnly("TrackingDomainRemoved")
    given(Domain, ...history)
      .when(set(DAY - 1, "l9.acme.com"))
      .refuses(NOTHING_NEW)
    const removed = happened(Domain, history, set(HOUR, null))
    const refused = Domain.track(after(HOUR), { opens: null, clicks: null, domain: domainName("l9.acme.com") })(
      foldedDomain(removed),
    )
    assert(Result.isFailure(refused) && refused.failure._tag === "TooManyTrackingDomains")
    assert.strictEqual(
      refused.failure.message,
      `The tracking domain of a domain can be set 10 times in 24 hours. Set it again after ${after(DAY)}.`,
    )
    // The time of the first of the ten has passed, that of the second has not.
    history = happened(Domain, history, set(DAY, "more.acme.com"))
    given(Domain, ...history)
      .when(set(DAY, "again.acme.com"))
      .refuses({ status: 422, reason: "too_many_tracking_domains" })
  })
  it("a tracking domain of a reserved name is never verified", () => {
    const set = { opens: null, clicks: null, domain: domainName("links.acme.test") }
    const history = happened(
      Domain,
      added("acme.test"),
      Domain.track(after(1), set),
      DomainCheck.recordCheck(after(MINUTE), [finding("verified"), leading("verified")]),
    )
    assert.strictEqual(foldedDomain(history).tracking_domain?.verified, false)
    const captured = happened(
      Domain,
      added("acme.test", true),
      Domain.track(after(1), set),
      DomainCheck.verifyReserved(after(MINUTE)),
    )
    assert.deepInclude(foldedDomain(captured), { status: "verified", next_check_at: after(MINUTE + DAY) })
  })
})
