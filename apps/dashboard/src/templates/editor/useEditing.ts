import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import * as Api from "../../api/Api.ts"
import { ApiError } from "../../api/ApiError.ts"
import type { TemplateRecord } from "../../api/Records.ts"
import { showToast } from "../../ui/feedback/Toasts.tsx"
import * as TemplateQueries from "../content/TemplateQueries.ts"
import * as Form from "../content/Form.ts"

/** Attempts of one save, each after a change of somebody else that came in between. */
const MAX_ATTEMPTS = 4

/** Texts that somebody else has changed as well, with theirs. */
export interface Conflict {
  readonly names: ReadonlyArray<string>
  readonly theirs: Form.Form
}

export interface Editing {
  readonly form: Form.Form
  readonly setForm: (form: Form.Form) => void
  readonly isDirty: boolean
  readonly isSaving: boolean
  readonly error: unknown
  readonly conflict: Conflict | undefined
  /** Whether the author is asked about the conflict now. */
  readonly isDeciding: boolean
  readonly setIsDeciding: (isDeciding: boolean) => void
  readonly resolve: (form: Form.Form) => void
  /** Returns the stored template, or undefined if it could not be saved. */
  readonly save: () => Promise<TemplateRecord | undefined>
}

const isOutdated = (error: unknown): boolean => error instanceof ApiError && error.reason === "template_draft_changed"

/** Holds the changes of an author until they are saved, and merges what others save meanwhile. */
export const useEditing = (record: TemplateRecord): Editing => {
  const client = useQueryClient()
  // In a ref too, because a save goes on while the author types.
  const [state, setState] = useState({ base: record, form: Form.of(record) })
  const latest = useRef(state)
  const [isSaving, setIsSaving] = useState(false)
  const [error, setError] = useState<unknown>()
  const [conflict, setConflict] = useState<Conflict>()
  const [isDeciding, setIsDeciding] = useState(false)
  const set = (next: typeof state) => {
    latest.current = next
    setState(next)
  }
  const isDirty = Form.changes(Form.of(state.base), state.form).length > 0
  /** Takes a newer template as the base of one's own changes. Returns whether both fit together. */
  const rebase = (next: TemplateRecord): boolean => {
    const { base, form } = latest.current
    const theirs = Form.of(next)
    const merged = Form.merge(Form.of(base), form, theirs)
    set({ base: next, form: merged.form })
    if (merged.conflicts.length > 0) {
      setConflict({ names: merged.conflicts, theirs })
      setIsDeciding(true)
    }
    return merged.conflicts.length === 0
  }
  useEffect(() => {
    if (isSaving || record.updated_at <= latest.current.base.updated_at) return
    const wasDirty = Form.changes(Form.of(latest.current.base), latest.current.form).length > 0
    const isOther = Form.changes(Form.of(latest.current.base), Form.of(record)).length > 0
    if (rebase(record) && wasDirty && isOther) showToast("This template was changed elsewhere. Your changes are kept.")
  }, [record, isSaving])
  const attempt = async (left: number): Promise<TemplateRecord | undefined> => {
    const { base, form } = latest.current
    const change = Form.toChange(Form.of(base), form)
    if (Object.keys(change).length === 0) return base
    try {
      const unchanged_since = base.updated_at
      const saved = await Api.patch<TemplateRecord>(`/templates/${base.id}`, { ...change, unchanged_since })
      client.setQueryData(TemplateQueries.template(base.id).queryKey, saved)
      // Merges, too, the texts that the author has typed meanwhile.
      set({ base: saved, form: Form.merge(form, latest.current.form, Form.of(saved)).form })
      return saved
    } catch (cause) {
      if (!isOutdated(cause) || left === 0) throw cause
      return rebase(await TemplateQueries.read(base.id)) ? attempt(left - 1) : undefined
    }
  }
  const save = async () => {
    // A conflict is decided first.
    if (conflict !== undefined) {
      setIsDeciding(true)
      return undefined
    }
    setIsSaving(true)
    setError(undefined)
    try {
      const saved = await attempt(MAX_ATTEMPTS)
      if (saved !== undefined) void client.invalidateQueries({ queryKey: [...TemplateQueries.ALL, "list"] })
      return saved
    } catch (cause) {
      setError(cause)
      return undefined
    } finally {
      setIsSaving(false)
    }
  }
  return {
    form: state.form,
    setForm: (form) => set({ ...latest.current, form }),
    isDirty,
    isSaving,
    error,
    conflict,
    isDeciding,
    setIsDeciding,
    resolve: (form) => {
      set({ ...latest.current, form })
      setConflict(undefined)
    },
    save,
  }
}
