import { instance } from "../api/instance.ts"
import { CodeBlock } from "../ui/display/Code.tsx"

/** How the first mail comes in: by a command while nothing leaves this instance, otherwise by a domain that receives. */
export const NoMail = () =>
  instance.transport === "capture" ? (
    <CodeBlock
      label="Command that sends a mail to this instance"
      code="swaks --server 127.0.0.1:2526 --to support@acme.test --from ana@example.org"
    />
  ) : (
    <p className="text-sm text-ink-2">Open a domain under Domains, and turn on “Receive mail”.</p>
  )
