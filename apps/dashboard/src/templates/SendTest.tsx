import { useMutation, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import * as Queries from "../api/Queries.ts"
import type { RenderedTemplate } from "../api/Records.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { useSession } from "../session/useSession.ts"
import { TextField } from "../ui/controls/Field.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"

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
  const domains = useQuery({ ...Queries.domains, enabled: useHasScope("domains:read") })
  const domain = domains.data?.data.find(({ status }) => status === "verified")?.name
  const [typedFrom, setFrom] = useState<string>()
  const [to, setTo] = useState(user.email)
  const sender = typedFrom ?? (from === "" ? (domain === undefined ? "" : `Test <hello@${domain}>`) : from)
  const send = useMutation({
    mutationFn: () =>
      Api.post<{ readonly id: string }>("/email/send", {
        from: sender,
        to: to.trim(),
        subject: `[Test] ${rendered.subject ?? ""}`.trim(),
        ...(rendered.html === null ? {} : { html: rendered.html }),
        ...(rendered.text === null ? {} : { text: rendered.text }),
        tags: ["template-test"],
      }),
  })
  const errors = useFormErrors(send.error, { from: sender, to })
  return (
    <DialogForm
      cancelLabel={send.isSuccess ? "Close" : "Cancel"}
      submit={send.isSuccess ? "Send again" : "Send test"}
      work={send}
      error={errors.form}
      onCancel={onDone}
    >
      <TextField
        label="To"
        autoFocus
        required
        value={to}
        onChange={(event) => setTo(event.target.value)}
        error={errors.field.to}
      />
      <TextField
        label="From"
        required
        value={sender}
        onChange={(event) => setFrom(event.target.value)}
        error={errors.field.from}
      />
      {send.data === undefined ? undefined : (
        <p role="status" className="text-sm text-good">
          Test sent.{" "}
          <Link to="/emails/$id" params={{ id: send.data.id }} className="underline underline-offset-2">
            View email
          </Link>
        </p>
      )}
    </DialogForm>
  )
}
