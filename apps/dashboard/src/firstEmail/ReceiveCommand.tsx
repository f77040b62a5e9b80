import { useQuery } from "@tanstack/react-query"
import { instance } from "../api/instance.ts"
import * as Queries from "../api/Queries.ts"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { CodeBlock } from "../ui/controls/Code.tsx"

/** The account's own address, which needs no DNS to be tried, and a command that sends a mail there. */
export const ReceiveCommand = () => {
  const { data: account } = useQuery(Queries.account)
  if (account === undefined || instance.mail === null) return undefined
  const to = `hello@${account.inbound_domain}`
  const server = `${instance.mail.host ?? new URL(instance.url).hostname}:${instance.mail.port}`
  return (
    <div className="flex min-w-0 flex-col gap-3 text-left">
      <CopyField text={to} label="Copy address" />
      <CodeBlock
        label="Command that sends a mail to this instance"
        code={[
          String.raw`printf 'Subject: Where is my order?\r\n\r\nIt has not come.\r\n' | curl smtp://${server} ` + "\\",
          `  --mail-from ana@example.org --mail-rcpt ${to} -T -`,
        ].join("\n")}
      />
    </div>
  )
}
