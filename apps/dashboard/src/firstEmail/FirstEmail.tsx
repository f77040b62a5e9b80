import { Link } from "@tanstack/react-router"
import { KeyRound, Send } from "lucide-react"
import { useHasScope } from "../session/useHasScope.ts"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { CodeExamples } from "../ui/controls/Code.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import * as SampleKey from "./SampleKey.ts"
import { useSendExamples } from "./useSendExamples.ts"
import { useSendTest } from "./useSendTest.ts"

/** Button that creates a key for the code examples. Shows nothing to somebody who may not create keys. */
export const CreateKey = ({ variant = "primary" }: { readonly variant?: "primary" | "secondary" }) => {
  const canCreate = useHasScope("admin")
  const create = SampleKey.useCreate()
  if (!canCreate) return undefined
  return (
    <>
      <Button variant={variant} icon={<KeyRound size={14} />} busy={create.isPending} onClick={() => create.mutate()}>
        Create API key
      </Button>
      <ErrorMessage error={create.error} />
    </>
  )
}

/** The created key, and code that sends an email with it. Shows nothing before there is one. */
export const KeyWithCode = () => {
  const key = SampleKey.useKey()
  const examples = useSendExamples(key ?? "")
  if (key === undefined) return undefined
  return (
    <div className="flex min-w-0 flex-col gap-3 text-left">
      <p className="text-sm text-ink-2">Copy the key now: it is shown only once. The code below holds it already.</p>
      <CopyField text={key} label="Copy API key" />
      <CodeExamples examples={examples} />
    </div>
  )
}

/** Button that sends a test email to the signed-in user. */
export const SendTest = ({ variant = "primary" }: { readonly variant?: "primary" | "secondary" }) => {
  const canSend = useHasScope("email:send")
  const send = useSendTest()
  if (!canSend) return undefined
  if (send === undefined)
    return (
      <Link to="/domains" className="text-sm font-medium link">
        Verify a domain first
      </Link>
    )
  return (
    <>
      <Button variant={variant} icon={<Send size={14} />} busy={send.isPending} onClick={() => send.mutate()}>
        Send test email
      </Button>
      <ErrorMessage error={send.error} />
    </>
  )
}

/** Ways to send a first email, for lists that have none yet. */
export const FirstEmail = () => {
  const key = SampleKey.useKey()
  return (
    <div className="flex w-full max-w-2xl flex-col gap-5">
      <div className="flex flex-wrap justify-center gap-2">
        <SendTest />
        {key === undefined ? <CreateKey variant="secondary" /> : undefined}
      </div>
      <KeyWithCode />
    </div>
  )
}
