import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import type { ListedTemplateVersion, TemplateRecord } from "../api/Records.ts"
import { TextArea } from "../ui/controls/Field.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import * as TemplateQueries from "./TemplateQueries.ts"

interface Props {
  readonly record: TemplateRecord
  /** Saves what the editor has, and returns what is stored then; undefined if the author has to look at it first. */
  readonly save: () => Promise<TemplateRecord | undefined>
  readonly onDone: () => void
}

/** Makes the draft the next version. What is published is what the author has seen. */
export const Publish = ({ onDone, record, save }: Props) => {
  const client = useQueryClient()
  const [notes, setNotes] = useState("")
  const publish = useMutation({
    mutationFn: async () => {
      const saved = await save()
      if (saved === undefined) return undefined
      return Api.post<ListedTemplateVersion>(`/templates/${record.id}/publish`, {
        notes: notes.trim() === "" ? null : notes.trim(),
        unchanged_since: saved.updated_at,
      })
    },
    onSuccess: (version) => {
      onDone()
      if (version !== undefined) showToast(`Version ${version.number} published. It is sent from now on.`)
    },
    onSettled: () => client.invalidateQueries({ queryKey: TemplateQueries.ALL }),
  })
  return (
    <DialogForm
      submit="Publish"
      busy={publish.isPending}
      error={publish.error}
      onCancel={onDone}
      onSubmit={() => publish.mutate()}
    >
      <TextArea
        label="What changed"
        autoFocus
        className="min-h-20"
        hint="Optional. Others read it in the list of versions."
        value={notes}
        onChange={(event) => setNotes(event.target.value)}
      />
    </DialogForm>
  )
}
