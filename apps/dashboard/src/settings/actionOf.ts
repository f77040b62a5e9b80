/** Types whose words differ from their name. */
const ACTIONS: Readonly<Record<string, string>> = {
  "domain.checked": "Domain DNS checked",
  "domain.dkim_rotated": "Domain DKIM key rotated",
  "domain.dkim_activated": "Domain DKIM key activated",
  "domain.ed25519_made": "Domain Ed25519 key created",
  "domain.ed25519_activated": "Domain Ed25519 key activated",
  "domain.ed25519_suspended": "Domain Ed25519 key suspended",
  "domain.ed25519_removed": "Domain Ed25519 key removed",
  "domain.tracking_domain_set": "Domain tracking domain set",
  "account.keeping_changed": "Account content retention changed",
  "account.links_changed": "Account link settings changed",
  "account.allowed_headers_changed": "Allowed headers changed",
  "account.batch_changed": "Batch of emails paused, canceled or resumed",
  "account.address_erased": "Address erased",
  "member.link_made": "Member sign-in link created",
  "member.factors_removed": "Member two-factor removed",
}

/** Says the type of a change in words: `api_key.revoked` is "API key revoked". */
export const actionOf = (type: string): string => {
  const words = ACTIONS[type] ?? type.replaceAll(/[._]/gu, " ").replace(/^api key/u, "API key")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
