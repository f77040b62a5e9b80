/** Reasons, or the endpoints that answer so, with their guide and, if there is one, their screen. The first that matches counts. */
const PLACES: ReadonlyArray<readonly [errors: RegExp, guide: string, screen?: string]> = [
  [
    /^(?:api_key|missing_scope|domain_not_allowed|live_only|test_only|other_mode)|\/v1\/api-keys/u,
    "[API keys](/docs/api-keys)",
    "[API keys](/settings/api-keys)",
  ],
  [/^monthly_quota/u, "[limits](/docs/limits)", "[Plan and usage](/settings/plan)"],
  [/_rate|^recipient_limit|^overloaded|_too_large/u, "[limits](/docs/limits)"],
  [
    /^domain_not|\/v1\/domains/u,
    "[DKIM, SPF and DMARC](/docs/operating/first-mail#set-up-dkim-spf-and-dmarc)",
    "[Domains](/domains)",
  ],
  [
    /suppress/u,
    "[suppressions](/docs/sending#stop-sending-to-an-address-suppressions)",
    "[Suppressions](/suppressions)",
  ],
  [/^template_|\/v1\/templates/u, "[templates](/docs/templates)", "[Templates](/templates)"],
  [/test_clock|\/test\/clocks/u, "[test clocks](/docs/test-clocks)"],
  [/\/v1\/webhooks/u, "[webhooks](/docs/webhooks)", "[Webhooks](/webhooks)"],
  [/\/v1\/events/u, "[events](/docs/webhooks#read-events-instead-of-receiving-calls)"],
  [/\/v1\/inbound\/routes/u, "[inbound mail](/docs/inbound)", "[Routes](/routes)"],
  [/\/v1\/(?:inbound|threads)/u, "[inbound mail](/docs/inbound)", "[Received](/received)"],
  [/\/v1\/members/u, "[members](/docs/start#manage-sign-in)", "[Members](/settings/members)"],
  [/^idempotency|^outcome_unknown/u, "[idempotency](/docs/sending#repeat-a-request-safely-idempotency)"],
  [/\/v1\/(?:email|sandbox)/u, "[sending](/docs/sending)", "[Emails](/emails)"],
]

/** Returns the links from an error to its guide and its screen; without either, to the reference and to refused requests. */
export const linksOf = ({ from, reason }: { readonly from: string; readonly reason: string }): string => {
  const found = PLACES.find(([errors]) => errors.test(reason) || errors.test(from))
  const [, guide, screen] = found ?? [undefined, "[API reference](/docs/api)", "[Requests](/requests)"]
  return screen === undefined ? `Guide: ${guide}.` : `Guide: ${guide}. In the dashboard: ${screen}.`
}
