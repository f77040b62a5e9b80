const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be by can do does for from how i if in into is it its me my not of on one or so that the their them then there this to up us use was we what when where which why will with you your".split(
    " ",
  ),
)

/** Brings the forms of a word together: `verifies`, `verified` and `verifying` with `verify`. */
const stem = (word: string): string => {
  const one = word.replace(/(?<=..[^s])s$/u, "")
  return one.length < 5 || /\d/u.test(one)
    ? one
    : one
        .replace(/(?:ie|ied)$/u, "y")
        .replace(/(?:ing|ed|e|ion)$/u, "")
        .replace(/([^s])\1$/u, "$1")
        .replace(/(?:at|e)$/u, "")
}

/** Words that people use, and those of the documents. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "2fa": "factor",
    apikey: "key",
    attach: "attachment",
    dump: "backup",
    email: "mail",
    env: "setting",
    environment: "setting",
    helm: "kubernet",
    hook: "webhook",
    k8s: "kubernet",
    later: "schedul",
    locally: "local",
    login: "sign",
    mfa: "factor",
    oauth: "oidc",
    oauth2: "oidc",
    prometheus: "metric",
    ratelimit: "rate",
    spam: "complaint",
    sso: "oidc",
    retry: "repe",
    setup: "set",
    throttl: "rate",
    token: "key",
    undo: "cancel",
    warmup: "warm",
    unsub: "unsubscrib",
  }),
)

/** Words of a question, and those with which the documents answer it, as well as by the word itself. */
export const RELATED: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  Object.entries({
    availability: "failover",
    change: "setting",
    gdpr: "erase person",
    delete: "erase",
    image: "attachment",
    inline: "attachment",
    multiple: "several",
    paging: "pagination",
    pdf: "attachment",
    personal: "person",
    signature: "verify",
    stuck: "grow",
  }).map(([word, others]) => [stem(word), others.split(" ").map(stem)]),
)

/** Returns the words of a text in the form in which they are compared: names whole, and the stems of their parts. */
export const of = (text: string): ReadonlyArray<string> => {
  const lower = text.toLowerCase()
  const whole = lower.match(/[a-z0-9]+(?:[_.-][a-z0-9]+)+/gu) ?? []
  const parts = (lower.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP_WORDS.has(word))
  // `Next.js` is found as `nextjs`, too.
  const joined = whole.map((word) => word.replaceAll(/[_.-]/gu, ""))
  return [...whole, ...joined, ...parts.map(stem).map((word) => SYNONYMS.get(word) ?? word)]
}
