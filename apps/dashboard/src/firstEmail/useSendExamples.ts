import { instance } from "../api/instance.ts"
import { useVerifiedDomain } from "../session/useVerifiedDomain.ts"
import type { Example } from "../ui/controls/Code.tsx"

/**
 * Code examples that send an email through this server with this key, from a domain of the account: the given one, or else
 * the first that is verified.
 */
export const useSendExamples = (key: string, domain?: string): ReadonlyArray<Example> => {
  const verified = useVerifiedDomain()
  return examplesOf(key, domain ?? verified ?? "acme.test")
}

const examplesOf = (key: string, domain: string): ReadonlyArray<Example> => {
  const address = `hello@${domain}`
  const message = { from: `Acme <${address}>`, to: "ana@example.org", subject: "Hello", text: "It works." }
  return [
    {
      name: "curl",
      code: [
        `curl ${instance.url}/v1/email/send \\`,
        `  -H "Authorization: Bearer ${key}" \\`,
        `  -H "Content-Type: application/json" \\`,
        `  -d '${JSON.stringify(message, null, 2).replaceAll("\n", "\n  ")}'`,
      ].join("\n"),
    },
    {
      name: "JavaScript",
      code: [
        `import { Waybill } from "@waybill/client"`,
        ``,
        `const waybill = new Waybill("${key}", { baseUrl: "${instance.url}" })`,
        ``,
        `await waybill.emails.send(${JSON.stringify(message, null, 2)})`,
      ].join("\n"),
    },
    { name: "SMTP", code: smtpExample(key, address).join("\n") },
  ]
}

const smtpExample = (key: string, from: string): ReadonlyArray<string> => {
  const { submission, url } = instance
  if (submission === null)
    return [
      `# SMTP is off: this server has no role "smtp" (setting ROLES).`,
      `# If another server of this installation has it, use that server's address and SMTP_PORT.`,
    ]
  const { host, port, tls, tlsPort } = submission
  const security =
    tlsPort === null ? (tls ? `--port ${port} --tls` : `--port ${port}`) : `--port ${tlsPort} --tls-on-connect`
  return [
    `# Any user name works; the password is an API key.`,
    ...(tls ? [] : [`# Works only on the server itself: for other machines, set SMTP_TLS_CERT and SMTP_TLS_KEY.`]),
    ...(tlsPort === null ? [] : [`# Port ${tlsPort} begins with TLS. For STARTTLS, use --port ${port} --tls.`]),
    `swaks --server ${host ?? (tls ? new URL(url).hostname : "127.0.0.1")} ${security} --auth PLAIN \\`,
    `  --auth-user waybill --auth-password "${key}" \\`,
    `  --from ${from} --to ana@example.org --header "Subject: Hello"`,
  ]
}
