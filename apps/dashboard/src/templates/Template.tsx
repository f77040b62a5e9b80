import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query"
import { useBlocker, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { Archive, Copy, Rocket, Save, Send } from "lucide-react"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import { defined } from "../api/defined.ts"
import type { TemplateRecord, TemplateVersion } from "../api/Records.ts"
import * as Keyboard from "../ui/controls/Keyboard.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Button } from "../ui/controls/Button.tsx"
import { MoreMenu } from "../ui/controls/Menu.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { KINDS } from "./TemplateColumns.tsx"
import { ConflictDialog } from "./editor/ConflictDialog.tsx"
import { useHistoryItem } from "../session/useHistoryItem.tsx"
import { focusEditor } from "./editor/focusEditor.ts"
import * as Form from "./content/Form.ts"
import { useEditing } from "./editor/useEditing.ts"
import { useTrial } from "./editor/useTrial.ts"
import { Workbench } from "./editor/Workbench.tsx"
import { Publish } from "./Publish.tsx"
import { SendTest } from "./SendTest.tsx"
import { Standing } from "./Standing.tsx"
import * as TemplateQueries from "./content/TemplateQueries.ts"
import { Usage } from "./Usage.tsx"
import { useSaveKeys } from "./useSaveKeys.ts"
import { Versions } from "./versions/Versions.tsx"

export const Template = () => {
  const { id } = useParams({ from: "/shell/templates/$id" })
  const { data: record } = useSuspenseQuery(TemplateQueries.template(id))
  return <Opened key={record.id} record={record} />
}

const VIEWS = ["edit", "versions", "use"] as const

const Opened = ({ record }: { readonly record: TemplateRecord }) => {
  const { id } = record
  const client = useQueryClient()
  const navigate = useNavigate()
  const mayWrite = useHasScope("templates:write")
  const canSend = useHasScope("email:send")
  const canEdit = mayWrite && record.status !== "archived"
  const editing = useEditing(record)
  const history = useHistoryItem(record.id)
  const { form, isDirty } = editing
  const search = useSearch({ from: "/shell/templates/$id" })
  const view = VIEWS.find((each) => each === search.view) ?? "edit"
  const locale = search.language ?? null
  const show = (next: { readonly view?: string; readonly tab?: string; readonly language?: string | undefined }) =>
    void navigate({ to: ".", search: (current) => defined({ ...current, ...next }), replace: true, resetScroll: false })
  const [sample, setSample] = useState<string>()
  const [dialog, setDialog] = useState<"publish" | "test" | "archive">()
  const shown = locale !== null && Form.localesOf(form).includes(locale) ? locale : null
  const trial = useTrial(id, form, {
    canWrite: mayWrite,
    isLayout: record.kind === "layout",
    isPartial: record.kind === "partial",
    locale: shown,
    sample,
    sent: record.current_version,
  })
  const isUnchanged = !isDirty && !record.draft_differs
  const blocker = useBlocker({
    // Another part of the same page keeps what is typed.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  const save = async (): Promise<boolean> => {
    const isSaved = (await editing.save()) !== undefined
    if (isSaved) showToast("Draft saved.")
    return isSaved
  }
  const restore = (source: TemplateVersion) => {
    const { name = "", alias = "", description = "" } = form
    editing.setForm({ name, alias, description, ...Form.ofSource(source) })
    show({ view: "edit" })
    showToast("The draft has the texts of the version. Nothing is saved yet.")
  }
  useSaveKeys({
    save: canEdit && isDirty ? () => void save() : undefined,
    publish: canEdit && !isUnchanged ? () => setDialog("publish") : undefined,
  })
  const duplicate = async () => {
    try {
      const copy = await Api.post<TemplateRecord>(`/templates/${id}/duplicate`, {})
      void client.invalidateQueries({ queryKey: [...TemplateQueries.ALL, "list"] })
      await navigate({ to: "/templates/$id", params: { id: copy.id } })
      showToast("Template duplicated.")
    } catch (error) {
      showError(error)
    }
  }
  const { rendered } = trial
  const closeDialog = () => setDialog(undefined)
  const closePublish = () => {
    closeDialog()
    focusEditor()
  }
  return (
    <Screen
      name={record.name}
      back={{ to: "/templates", name: "Templates" }}
      title={<UntrustedText text={record.name} />}
      status={<Standing record={record} />}
      hint={hintOf(record, isDirty)}
      actions={
        <>
          {canEdit ? (
            <>
              <Button
                icon={<Save size={14} />}
                busy={editing.isSaving}
                disabled={!isDirty}
                onClick={() => void save()}
                title={Keyboard.command("S")}
              >
                Save draft
              </Button>
              {canSend && record.kind === "template" ? (
                <Button icon={<Send size={14} />} disabled={rendered === undefined} onClick={() => setDialog("test")}>
                  Send test
                </Button>
              ) : undefined}
              <Button
                variant="primary"
                icon={<Rocket size={14} />}
                disabled={isUnchanged}
                title={isUnchanged ? "The draft is what is sent already" : Keyboard.command("Enter")}
                onClick={() => setDialog("publish")}
              >
                Publish
              </Button>
            </>
          ) : undefined}
          {mayWrite ? (
            <MoreMenu
              isFramed
              label="Template actions"
              items={[
                { name: "Duplicate", icon: <Copy size={15} />, onSelect: () => void duplicate() },
                ...history,
                canEdit && "separator",
                canEdit && {
                  name: "Archive",
                  icon: <Archive size={15} />,
                  danger: true,
                  onSelect: () => setDialog("archive"),
                },
              ]}
            />
          ) : undefined}
        </>
      }
    >
      <div className="flex">
        <SegmentedControl
          label="View"
          value={view}
          options={[
            ["edit", canEdit ? "Edit" : "Source"],
            ["versions", "Versions"],
            ["use", "Use"],
          ]}
          onChange={(next) => show({ view: next })}
        />
      </div>
      <ErrorMessage error={editing.error} />
      {editing.conflict === undefined || editing.isDeciding ? undefined : (
        <p
          role="note"
          className="flex flex-wrap items-center gap-3 rounded-lg bg-warn-soft px-3 py-2.5 text-sm text-warn"
        >
          Somebody else changed the same. Nothing is saved until you choose what stays.
          <Button small onClick={() => editing.setIsDeciding(true)}>
            Choose
          </Button>
        </p>
      )}
      {view === "edit" ? (
        <Workbench
          record={record}
          form={form}
          onForm={canEdit ? editing.setForm : undefined}
          locale={shown}
          onLocale={(tag) => show({ language: tag ?? undefined })}
          tab={search.tab ?? "HTML"}
          onTab={(tab, language) => show({ tab, ...(language === undefined ? {} : { language }) })}
          sample={sample}
          onSample={setSample}
          trial={trial}
          error={editing.error}
        />
      ) : view === "versions" ? (
        <Versions record={record} canWrite={mayWrite} onRestore={canEdit ? restore : undefined} />
      ) : (
        <Usage record={record} />
      )}
      <Dialog
        open={dialog === "publish"}
        onClose={closeDialog}
        wide
        title={`Publish version ${record.versions + 1}?`}
        description={
          isDirty
            ? "Your changes are saved first. New emails use this version at once."
            : "New emails use this version at once. It never changes again."
        }
      >
        <Publish record={record} form={form} trial={trial} save={editing.save} onDone={closePublish} />
      </Dialog>
      <Dialog
        open={dialog === "test"}
        onClose={closeDialog}
        title="Send a test"
        description="Sends what the preview shows, with its sample values."
      >
        {rendered === undefined ? undefined : (
          <SendTest rendered={rendered} from={form["from"] ?? ""} onDone={closeDialog} />
        )}
      </Dialog>
      <ConfirmDialog
        open={dialog === "archive"}
        onClose={closeDialog}
        title="Archive template?"
        action="Archive"
        onConfirm={async () => {
          await Api.remove(`/templates/${id}`)
          await client.invalidateQueries({ queryKey: TemplateQueries.ALL })
          showToast("Template archived.")
        }}
      >
        Nothing more is sent by it, and its alias is free. Messages that are scheduled already go out, and its versions
        can still be read.
      </ConfirmDialog>
      <ConflictDialog
        conflict={editing.conflict}
        form={form}
        onResolve={editing.resolve}
        open={editing.isDeciding}
        onClose={() => editing.setIsDeciding(false)}
      />
      <ConfirmDialog
        open={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        title="Leave without saving?"
        action="Leave"
        cancelLabel="Stay"
        first={
          canEdit
            ? {
                name: "Save and leave",
                onSelect: () => void save().then((isSaved) => (isSaved ? blocker.proceed?.() : blocker.reset?.())),
              }
            : undefined
        }
        onConfirm={async () => blocker.proceed?.()}
      >
        Your changes to this template are lost.
      </ConfirmDialog>
    </Screen>
  )
}

const hintOf = (
  { current_version, draft_differs, kind, missing_parts, status, versions }: TemplateRecord,
  isDirty: boolean,
): string => {
  const sent =
    current_version === null
      ? "not published"
      : `version ${current_version}${current_version === versions ? "" : ` of ${versions}`} is sent`
  return [
    KINDS[kind],
    status === "archived" ? "archived" : sent,
    ...(missing_parts.length > 0 ? [`${missing_parts.join(", ")} is not published`] : []),
    ...(current_version !== null && draft_differs ? ["the draft differs from it"] : []),
    ...(isDirty ? ["changes not saved"] : []),
  ].join(" · ")
}
