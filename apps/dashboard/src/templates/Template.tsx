import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query"
import { Link, useBlocker, useNavigate, useParams } from "@tanstack/react-router"
import { Archive, ArrowLeft, Copy, MoreHorizontal, Rocket, Save, Send } from "lucide-react"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import type { TemplateRecord } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { KINDS } from "./TemplateColumns.tsx"
import { ConflictDialog } from "./editor/ConflictDialog.tsx"
import * as Form from "./editor/Form.ts"
import { useEditing } from "./editor/useEditing.ts"
import { useTrial } from "./editor/useTrial.ts"
import { Workbench } from "./editor/Workbench.tsx"
import { Publish } from "./Publish.tsx"
import { SendTest } from "./SendTest.tsx"
import * as TemplateQueries from "./TemplateQueries.ts"
import { Usage } from "./Usage.tsx"
import { Versions } from "./versions/Versions.tsx"

export const Template = () => {
  const { id } = useParams({ from: "/shell/templates/$id" })
  const { data: record } = useSuspenseQuery(TemplateQueries.template(id))
  return <Opened key={record.id} record={record} />
}

type View = "edit" | "versions" | "use"

const Opened = ({ record }: { readonly record: TemplateRecord }) => {
  const { id } = record
  const client = useQueryClient()
  const navigate = useNavigate()
  const mayWrite = useHasScope("templates:write")
  const canSend = useHasScope("email:send")
  const canEdit = mayWrite && record.status !== "archived"
  const editing = useEditing(record)
  const { form, isDirty } = editing
  const [view, setView] = useState<View>("edit")
  const [locale, setLocale] = useState<string | null>(null)
  const [sample, setSample] = useState<string>()
  const [dialog, setDialog] = useState<"publish" | "test" | "archive">()
  const shown = locale !== null && Form.localesOf(form).includes(locale) ? locale : null
  const trial = useTrial(id, form, { enabled: mayWrite, isLayout: record.kind === "layout", locale: shown, sample })
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  const save = async () => {
    if ((await editing.save()) !== undefined) showToast("Draft saved.")
  }
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
  return (
    <Screen
      name={record.name}
      title={
        <span className="flex items-center gap-3">
          <Link to="/templates" aria-label="Back to templates" className="rounded-md text-ink-3 hover:text-ink">
            <ArrowLeft size={16} />
          </Link>
          <span className="truncate">
            <UntrustedText text={record.name} />
          </span>
          <StatusBadge status={record.status} />
        </span>
      }
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
                className="max-sm:hidden"
              >
                Save draft
              </Button>
              {canSend && record.kind === "template" ? (
                <Button icon={<Send size={14} />} disabled={rendered === undefined} onClick={() => setDialog("test")}>
                  Send test
                </Button>
              ) : undefined}
              <Button variant="primary" icon={<Rocket size={14} />} onClick={() => setDialog("publish")}>
                Publish
              </Button>
            </>
          ) : undefined}
          {mayWrite ? (
            <Menu
              trigger={
                <IconButton label="Template actions" className="border border-line-strong bg-raised">
                  <MoreHorizontal size={16} />
                </IconButton>
              }
              items={[
                { name: "Duplicate", icon: <Copy size={15} />, onSelect: () => void duplicate() },
                ...(canEdit
                  ? [
                      "separator" as const,
                      {
                        name: "Archive",
                        icon: <Archive size={15} />,
                        danger: true,
                        onSelect: () => setDialog("archive"),
                      },
                    ]
                  : []),
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
          onChange={setView}
        />
      </div>
      {editing.error === undefined ? undefined : <ErrorMessage error={editing.error} />}
      {view === "edit" ? (
        <Workbench
          record={record}
          form={form}
          onForm={canEdit ? editing.setForm : undefined}
          locale={shown}
          onLocale={setLocale}
          sample={sample}
          onSample={setSample}
          trial={trial}
          hasPreview={mayWrite}
          error={editing.error}
        />
      ) : view === "versions" ? (
        <Versions record={record} canWrite={mayWrite} />
      ) : (
        <Usage record={record} />
      )}
      <Dialog
        open={dialog === "publish"}
        onOpenChange={() => setDialog(undefined)}
        title={`Publish version ${record.versions + 1}?`}
        description={
          isDirty
            ? "Your changes are saved first. New messages are made of this version at once."
            : "New messages are made of this version at once. It never changes again."
        }
      >
        <Publish record={record} save={editing.save} onDone={() => setDialog(undefined)} />
      </Dialog>
      <Dialog
        open={dialog === "test"}
        onOpenChange={() => setDialog(undefined)}
        title="Send a test"
        description="Sends what the preview shows, with its sample values."
      >
        {rendered === undefined ? undefined : (
          <SendTest rendered={rendered} from={form["from"] ?? ""} onDone={() => setDialog(undefined)} />
        )}
      </Dialog>
      <ConfirmDialog
        open={dialog === "archive"}
        onOpenChange={() => setDialog(undefined)}
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
      <ConflictDialog conflict={editing.conflict} form={form} onResolve={editing.resolve} />
      <ConfirmDialog
        open={blocker.status === "blocked"}
        onOpenChange={(isOpen) => (isOpen ? undefined : blocker.reset?.())}
        title="Leave without saving?"
        action="Leave"
        cancelLabel="Stay"
        onConfirm={async () => blocker.proceed?.()}
      >
        Your changes to this template are lost.
      </ConfirmDialog>
    </Screen>
  )
}

const hintOf = ({ current_version, kind, status, versions }: TemplateRecord, isDirty: boolean): string => {
  const sent =
    current_version === null
      ? "not published"
      : `version ${current_version}${current_version === versions ? "" : ` of ${versions}`} is sent`
  return [KINDS[kind], status === "archived" ? "archived" : sent, ...(isDirty ? ["changes not saved"] : [])].join(" · ")
}
