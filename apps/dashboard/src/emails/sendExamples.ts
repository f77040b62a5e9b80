import { instance } from "../api/instance.ts"
import type { Example } from "../ui/display/Code.tsx"

/** Code examples that send an email through this server. */
export const sendExamples = (key = "$WAYBILL_KEY", from = "Acme <hello@acme.test>"): ReadonlyArray<Example> => {
  const message = { from, to: "ana@example.org", subject: "Hello", text: "It works." }
  return [
    {
      name: "curl",
      code: [
        `curl ${instance.url}/v1/email/send \\`,
        `  -H "Authorization: Bearer ${key}" \\`,
        `  -H "Content-Type: application/json" \\`,
        `  -d '${JSON.stringify(message)}'`,
      ].join("\n"),
    },
    {
      name: "JavaScript",
      code: [
        `import { Waybill } from "@waybill/client"`,
        ``,
        `const waybill = new Waybill(${key.startsWith("$") ? "process.env.WAYBILL_KEY" : `"${key}"`}, { baseUrl: "${instance.url}" })`,
        ``,
        `await waybill.emails.send(${JSON.stringify(message, null, 2)})`,
      ].join("\n"),
    },
    {
      name: "SMTP",
      code: [
        `# Any user name works; the password is an API key.`,
        `swaks --server ${new URL(instance.url).hostname}:2525 --auth PLAIN \\`,
        `  --auth-user waybill --auth-password "${key}" \\`,
        `  --from hello@acme.test --to ana@example.org --header "Subject: Hello"`,
      ].join("\n"),
    },
  ]
}
