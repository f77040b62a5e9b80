/**
 * Builds a small message that is slow to parse. The HTML stands beside a text part outside of `alternative`, so that a
 * reader derives text from it: a pattern such as `<a\b[^>]*href…([^\s"']+)[^>]*>` then tries each end of each link with
 * all others.
 */
export const cubic = (sender: string, recipient: string, repeats: number): string =>
  [
    `From: <${sender}>`,
    `To: <${recipient}>`,
    "Subject: Undelivered Mail Returned to Sender",
    "MIME-Version: 1.0",
    "Content-Type: multipart/mixed; boundary=b",
    "",
    "--b",
    "Content-Type: text/html",
    "",
    // Lines stay below the 998 octets of RFC 5322.
    `<a ${"href=".repeat(repeats).replaceAll(/(?:href=){150}/gu, "$&\r\n")}`,
    "--b",
    "Content-Type: text/plain",
    "",
    "x",
    "--b--",
  ].join("\r\n")
