const SHOWN: ReadonlySet<string> = new Set(
  "amqp file ftp http https mongodb mysql postgres postgresql redis smtp smtps ssh tcp".split(" "),
)

/** Returns how a message names the scheme of a URL. Only common ones are shown, because the text may be a secret. */
export const shownScheme = (scheme: string): string =>
  SHOWN.has(scheme.toLowerCase()) ? `${scheme}:` : "another scheme"
