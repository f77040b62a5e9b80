import { Plus, Trash2 } from "lucide-react"
import { useState } from "react"
import { Button, IconButton } from "../../ui/controls/Button.tsx"
import { SelectField, TextField } from "../../ui/controls/Field.tsx"
import { Dialog, DialogForm } from "../../ui/feedback/Dialog.tsx"
import * as Form from "../content/Form.ts"
import * as LanguageName from "./LanguageName.ts"

interface Props {
  readonly form: Form.Form
  readonly onForm: ((form: Form.Form) => void) | undefined
  readonly locale: string | null
  readonly onLocale: (locale: string | null) => void
}

/** Tags of BCP 47, as the API takes them. */
const TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/u

/** Chooses the language that is edited beside the template's own. */
export const Languages = ({ form, locale, onForm, onLocale }: Props) => {
  const tags = Form.localesOf(form)
  const [isAdding, setIsAdding] = useState(false)
  return (
    <div className="flex flex-wrap items-end gap-2">
      <SelectField
        label="Language"
        className="min-w-0 grow basis-60"
        value={locale ?? ""}
        onChange={({ target }) => onLocale(target.value === "" ? null : target.value)}
        options={[["", LanguageName.DEFAULT], ...tags.map((tag) => [tag, LanguageName.shown(tag)] as const)]}
      />
      {onForm === undefined ? undefined : (
        <>
          <Button icon={<Plus size={14} />} onClick={() => setIsAdding(true)}>
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
            onClose={() => setIsAdding(false)}
            title="Add language"
            description="An email is sent in it if its request asks for it. Texts that you leave empty are taken from the default."
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
      <p className="basis-full text-xs text-ink-3">{meaningOf(form, locale)}</p>
    </div>
  )
}

/** Says when the texts of a language are sent, and where it finds those that it leaves out. */
const meaningOf = (form: Form.Form, locale: string | null): string => {
  const tags = Form.localesOf(form)
  if (locale === null)
    return tags.length === 0
      ? "All emails are sent with these texts. Add a language to translate them."
      : "Sent if a request asks for no language, or for one that is not here."
  const has = (word: Form.Word, tag: string | null) => (form[Form.nameOf(word, tag)] ?? "") !== ""
  // The text of a language that has its own HTML is derived from it.
  const missing = Form.WORDS.filter(
    (word) => has(word, null) && !has(word, locale) && !(word === "text" && has("html", locale)),
  ).map((word) => Form.labelOf(word))
  const wider = [...tags.filter((tag) => tag !== locale && locale.startsWith(`${tag}-`)), null]
  const source = wider.map((tag) => (tag === null ? "the default" : LanguageName.shown(tag))).join(", then ")
  return missing.length === 0
    ? `Sent if a request asks for “${locale}”.`
    : `Sent if a request asks for “${locale}”. Not translated: ${missing.join(", ")}. Taken from ${source}.`
}

interface NewProps {
  readonly taken: ReadonlyArray<string>
  readonly onAdd: (tag: string) => void
  readonly onCancel: () => void
}

const NewLanguage = ({ onAdd, onCancel, taken }: NewProps) => {
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
    <DialogForm submit="Add language" onCancel={onCancel} form={{ isPending: false, submit, error: undefined }}>
      <TextField
        label="Language"
        autoFocus
        placeholder="de"
        hint={LanguageName.of(tag.trim()) ?? "A language tag: de for German, pt-BR for Brazilian Portuguese."}
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
