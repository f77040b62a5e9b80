/** Host of Amazon SNS in a region. The regions of China have a domain of their own. */
const HOST =
  /^sns\.(?:((?:us-gov|(?!cn)[a-z]{2})-[a-z]{4,12}-\d{1,2})\.amazonaws\.com|(cn-[a-z]{4,12}-\d{1,2})\.amazonaws\.com\.cn)$/u
/** Address of the certificate of an authority, as it is in the certificates that this one issued. */
const ISSUER = /^http:\/\/crt\.[a-z0-9]{1,20}\.amazontrust\.com\/[a-z0-9]{1,20}\.(?:cer|crt)$/u

/** Name that AWS writes into the certificate of both regions of GovCloud. */
const GOVERNMENT = "sns-us-gov-west-1.amazonaws.com"

/** Reads a URL of Amazon SNS. Returns undefined for every other one. */
export const parse = (text: string): URL | undefined => {
  const url = URL.parse(text)
  return url?.protocol === "https:" &&
    url.username === "" &&
    url.password === "" &&
    url.port === "" &&
    HOST.test(url.hostname)
    ? url
    : undefined
}

/** Reads the URL of the certificate of an authority of Amazon. */
export const parseIssuer = (text: string): URL | undefined => (ISSUER.test(text) ? new URL(text) : undefined)

/** Names of which a certificate for signing has one. AWS names them differently by the age and the kind of a region. */
export const namesOf = (host: string): ReadonlyArray<string> => {
  const [, worldwide, chinese = ""] = HOST.exec(host) ?? []
  const [region, domain] = worldwide === undefined ? [chinese, "amazonaws.com.cn"] : [worldwide, "amazonaws.com"]
  const own = [host, `sns-signing.${region}.${domain}`, `sns-${region}.${domain}`]
  return region.startsWith("us-gov-") ? [...own, GOVERNMENT] : [...own, `sns.${domain}`]
}
