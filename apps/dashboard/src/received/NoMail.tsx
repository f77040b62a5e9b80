import { instance } from "../api/instance.ts"
import { ReceiveCommand } from "../firstEmail/ReceiveCommand.tsx"

/** How the first mail comes in: by a command, or by a domain that receives where this server is not the one for mail. */
export const NoMail = () =>
  instance.mail === null ? (
    <p className="text-sm text-ink-2">Open a domain under Domains, and turn on “Receive mail”.</p>
  ) : (
    <div className="w-full max-w-2xl">
      <ReceiveCommand />
    </div>
  )
