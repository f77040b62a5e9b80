import { Link } from "@tanstack/react-router"
import * as Api from "../api/Api.ts"
import type { RenderedTemplate } from "../api/Records.ts"
import { useSession } from "../session/useSession.ts"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { useVerifiedDomain } from "../session/useVerifiedDomain.ts"
import { DialogForm } from "../ui/feedback/Dialog.tsx"

interface Props {
  /** The rendering that the preview shows. */
  readonly rendered: RenderedTemplate
  /** Sender of the template; empty if it has none. */
  readonly from: string
  readonly onDone: () => void
}

/** Sends what the preview shows, whether or not it is published, or saved. */
export const SendTest = ({ from, onDone, rendered }: Props) => {
  const { user } = useSession()
  const domain = useVerifiedDomain()
  const suggested = from === "" ? (domain === undefined ? "" : `Test <hello@${domain}>`) : from
  const form = useForm<{ readonly from: string | undefined; readonly to: string }, { readonly id: string }>({
    // The sender is the suggested one until another is typed.
    initial: { from: undefined, to: user.email },
    send: ({ from: sender = suggested, to }) =>
      Api.post("/email/send", {
        from: sender,
        to: to.trim(),
        subject: `[Test] ${rendered.subject ?? ""}`.trim(),
        ...(rendered.html === null ? {} : { html: rendered.html }),
        ...(rendered.text === null ? {} : { text: rendered.text }),
        tags: ["template-test"],
      }),
  })
  const isSent = form.answer !== undefined
  return (
    <DialogForm
      cancelLabel={isSent ? "Close" : "Cancel"}
      submit={isSent ? "Send again" : "Send test"}
      form={form}
      onCancel={onDone}
    >
      <TextField label="To" autoFocus required {...form.input("to")} />
      <TextField
        label="From"
        required
        value={form.values.from ?? suggested}
        onChange={(event) => form.set({ from: event.target.value })}
        error={form.errorOf("from")}
      />
      {form.answer === undefined ? undefined : (
        <p role="status" className="text-sm text-good">
          Test sent.{" "}
          <Link to="/emails/$id" params={{ id: form.answer.id }} className="underline underline-offset-2">
            View email
          </Link>
        </p>
      )}
    </DialogForm>
  )
}
