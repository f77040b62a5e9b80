import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import { ApiError } from "../api/ApiError.ts"
import type { ListedTemplateVersion, TemplateRecord } from "../api/Records.ts"
import { TextArea } from "../ui/controls/Field.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import * as Form from "./content/Form.ts"
import * as Problems from "./content/Problems.ts"
import type { Trial } from "./editor/useTrial.ts"
import { ProblemList } from "./editor/ProblemList.tsx"
import * as TemplateQueries from "./content/TemplateQueries.ts"
import { Differences } from "./versions/Comparison.tsx"
import { DialogForm } from "../ui/feedback/Dialog.tsx"

interface Props {
  readonly record: TemplateRecord
  /** Texts that the editor has. */
  readonly form: Form.Form
  readonly trial: Trial
  /** Saves what the editor has, and returns what is stored then; undefined if the author has to look at it first. */
  readonly save: () => Promise<TemplateRecord | undefined>
  readonly onDone: () => void
}

/** Makes the draft the next version. What is published is what the author has seen. */
export const Publish = ({ form, onDone, record, save, trial }: Props) => {
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
  const sent = useQuery({
    ...TemplateQueries.version(record.id, record.current_version ?? 0),
    enabled: record.current_version !== null,
  })
  const before = record.current_version === null ? {} : sent.data === undefined ? undefined : Form.ofSource(sent.data)
  const refused = publish.error instanceof ApiError && publish.error.reason === "template_invalid"
  const problems = refused ? Problems.inError(publish.error) : trial.problems.filter(isOfSource)
  return (
    <DialogForm
      submit="Publish"
      form={{ isPending: publish.isPending, submit: publish.mutate, error: refused ? undefined : publish.error }}
      disabled={problems.length > 0}
      onCancel={onDone}
    >
      <ProblemList label="Problems to mend" tone="bad" problems={problems} />
      <ProblemList label="Warnings before publishing" tone="warn" problems={warningsOf(record, form, trial)} />
      <UsedBy record={record} />
      <TextArea
        label="What changed"
        autoFocus
        className="min-h-20"
        hint="Optional. Others read it in the list of versions."
        value={notes}
        onChange={(event) => setNotes(event.target.value)}
      />
      {before === undefined ? undefined : (
        <details className="rounded-lg border border-line" open={record.current_version !== null}>
          <summary className="cursor-pointer px-4 py-2.5 text-sm font-medium">
            {record.current_version === null ? "All texts" : `Changes since version ${record.current_version}`}
          </summary>
          <Differences before={before} after={textsOf(form)} />
        </details>
      )}
    </DialogForm>
  )
}

/** The names of a template are no part of a version. */
const textsOf = ({ alias, description, name, ...texts }: Form.Form): Form.Form => texts

/** Values of the preview are no part of what is published. */
const isOfSource = ({ path }: Problems.TextProblem): boolean => path !== Problems.SAMPLE

const warningsOf = (
  { kind }: TemplateRecord,
  form: Form.Form,
  { warnings }: Trial,
): ReadonlyArray<Problems.TextProblem> =>
  kind === "template" && (form["subject"] ?? "") === ""
    ? [...Problems.of([{ path: "subject", message: "is missing: each message has to bring one" }]), ...warnings]
    : warnings

/** Users of a layout or partial, which change with it. */
const UsedBy = ({ record: { alias, kind } }: { readonly record: TemplateRecord }) => {
  const isPart = kind !== "template" && alias !== null
  const users = useInfiniteQuery({ ...TemplateQueries.list({ uses: alias ?? "" }), enabled: isPart })
  const [first] = users.data?.pages ?? []
  if (!isPart || first === undefined) return undefined
  const count = `${first.data.length}${first.has_more ? " or more" : ""}`
  return (
    <p className="text-sm text-ink-2">
      {first.data.length === 0
        ? "Nothing uses it yet."
        : `It is used by ${count}: ${first.data.map(({ name }) => name).join(", ")}. Emails of them change at once.`}
    </p>
  )
}
