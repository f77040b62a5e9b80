import { CodeBlock } from "../ui/controls/Code.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { DialogBody } from "../ui/feedback/Dialog.tsx"

export const VERIFY = `import { verifyWebhook } from "@waybill/client"

// Verify the raw request body, before parsing it.
const event = await verifyWebhook(body, request.headers, process.env.WEBHOOK_SECRET)
if (event.type === "email.bounced") await deactivate(event.data.recipient)`
const LISTEN = "npx waybill listen --forward-to http://localhost:3000/hooks"

export const SigningSecret = ({ onDone, secret }: { readonly secret: string; readonly onDone: () => void }) => (
  <DialogBody onDone={onDone}>
    <CopyField text={secret} label="Copy signing secret" />
    <CodeBlock wraps label="Verify a request" code={VERIFY} />
    <p className="text-sm text-ink-2">On your machine, receive the events of this account without a public address:</p>
    <CodeBlock wraps label="Receive on your machine" code={LISTEN} />
  </DialogBody>
)
