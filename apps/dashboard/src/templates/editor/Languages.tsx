import { Plus, Trash2 } from "lucide-react"
import { useState } from "react"
import { Button, IconButton } from "../../ui/controls/Button.tsx"
import { TextField } from "../../ui/controls/Field.tsx"
import { SegmentedControl } from "../../ui/controls/SegmentedControl.tsx"
import { Dialog } from "../../ui/feedback/Dialog.tsx"
import { DialogForm } from "../../ui/feedback/DialogForm.tsx"
import * as Form from "./Form.ts"

interface Props {
  readonly form: Form.Form
  readonly onForm: ((form: Form.Form) => void) | undefined
  readonly locale: string | null
  readonly onLocale: (locale: string | null) => void
}

const OWN = "own"
/** Tags of BCP 47, as the API takes them. */
const TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/u

/** Chooses the language that is edited beside the template's own. */
export const Languages = ({ form, locale, onForm, onLocale }: Props) => {
  const tags = Form.localesOf(form)
  const [isAdding, setIsAdding] = useState(false)
  return (
    <div className="flex flex-wrap items-center gap-2">
      {tags.length === 0 ? (
        <p className="text-xs text-ink-3">One language</p>
      ) : (
        <SegmentedControl
          label="Language"
          value={locale ?? OWN}
          options={[[OWN, "Own language"], ...tags.map((tag) => [tag, `${tag}${missingIn(form, tag)}`] as const)]}
          onChange={(tag) => onLocale(tag === OWN ? null : tag)}
        />
      )}
      {onForm === undefined ? undefined : (
        <>
          <Button small variant="ghost" icon={<Plus size={14} />} onClick={() => setIsAdding(true)}>
            Add language
          </Button>
          {locale === null ? undefined : (
            <IconButton
              label={`Remove language ${locale}`}
              onClick={() => {
                onForm(Form.withoutLocale(form, locale))
                onLocale(null)
              }}
            >
              <Trash2 size={15} />
            </IconButton>
          )}
          <Dialog
            open={isAdding}
            onOpenChange={setIsAdding}
            title="Add language"
            description="What you leave empty in it is taken from the wider language: pt-BR from pt, and pt from the template."
          >
            <NewLanguage
              taken={tags}
              onCancel={() => setIsAdding(false)}
              onAdd={(tag) => {
                onForm(Form.withLocale(form, tag))
                onLocale(tag)
                setIsAdding(false)
              }}
            />
          </Dialog>
        </>
      )}
    </div>
  )
}

/** Says how many lines that stand beside the HTML of a language are in a wider one. */
const missingIn = (form: Form.Form, tag: string): string => {
  const has = (word: Form.Word, locale: string | null) => (form[Form.nameOf(word, locale)] ?? "") !== ""
  if (!has("html", tag)) return ""
  const missing = (["subject", "preheader"] as const).filter((word) => has(word, null) && !has(word, tag)).length
  return missing === 0 ? "" : ` (${missing} missing)`
}

const NewLanguage = ({
  onAdd,
  onCancel,
  taken,
}: {
  readonly taken: ReadonlyArray<string>
  readonly onAdd: (tag: string) => void
  readonly onCancel: () => void
}) => {
  const [tag, setTag] = useState("")
  const [error, setError] = useState<string>()
  const submit = () => {
    const typed = tag.trim()
    if (!TAG.test(typed)) return setError("Use a language tag, such as de or pt-BR.")
    if (taken.some((each) => each.toLowerCase() === typed.toLowerCase()))
      return setError("The template has this language already.")
    return onAdd(typed)
  }
  return (
    <DialogForm submit="Add language" onCancel={onCancel} onSubmit={submit}>
      <TextField
        label="Language"
        autoFocus
        placeholder="de"
        autoCapitalize="none"
        value={tag}
        onChange={(event) => {
          setTag(event.target.value)
          setError(undefined)
        }}
        error={error}
      />
    </DialogForm>
  )
}
