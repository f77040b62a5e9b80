# frozen_string_literal: true

# Runs against a service that test/clients/languages.test.ts starts, through a proxy that causes faults.
require "minitest/autorun"
require "waybill"

PROXY = ENV.fetch("WAYBILL_TEST_PROXY")
KEY = ENV.fetch("WAYBILL_KEY")
CALLS = JSON.parse(ENV.fetch("WAYBILL_TEST_WEBHOOK"), symbolize_names: true)

class WaybillTest < Minitest::Test
  def waybill
    @waybill ||= Waybill::Client.new
  end

  def client(mode, **options)
    Waybill::Client.new(base_url: "#{PROXY}/#{mode}", **options)
  end

  def email(subject, **fields)
    { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: subject, text: "Hello", **fields }
  end

  def ids(emails)
    emails.map { |each| each[:id] }
  end

  def refused(&block)
    assert_raises(Waybill::Error, &block)
  end
end

class SendingTest < WaybillTest
  def test_send_with_every_kind_of_field
    at = Time.now + 3600
    message = email(
      "Every field", to: ["ana@example.org", "Bo <bo@example.org>"], cc: "cy@example.org", html: "<p>Grüße</p>",
      headers: { "X-Order" => "4711" }, tags: ["receipt"], scheduled_at: at, tracking: { opens: false },
      attachments: [{ filename: "a.txt", content: ["Hi"].pack("m0") }]
    )
    answer = waybill.emails.send(message)
    assert_equal "queued", answer[:status]
    sent = waybill.emails.get(answer[:id])
    assert_equal ["ana@example.org", "Bo <bo@example.org>"], sent[:to]
    assert_equal at.getutc.iso8601(3), sent[:scheduled_at]
    assert_equal [2], sent[:content][:attachments].map { |file| file[:size_bytes] }
    assert_includes sent[:content][:html], "Grüße"
    moved = waybill.emails.reschedule(answer[:id], at + 3600)
    assert_operator moved[:scheduled_at], :>, sent[:scheduled_at]
    assert_equal "canceled", waybill.emails.cancel(answer[:id])[:status]
    refute_equal answer[:id], waybill.emails.resend(answer[:id])[:id]
    receipt = JSON.parse(waybill.emails.receipt(answer[:id], redact: %w[recipient subject]))
    assert_equal answer[:id], receipt["email"]["id"]
    assert_empty %w[to subject] - receipt["events"][0]["hidden"].keys
  end

  def test_batch
    batch = waybill.emails.send_batch([email("One"), email("Two")])
    assert_equal %w[queued queued], batch[:data].map { |each| each[:status] }
    results = waybill.emails.send_batch([email("Three"), email("Four", to: "nobody")], mode: "permissive")[:data]
    assert_equal "queued", results[0][:status]
    assert_equal "invalid_request", results[1][:error][:code]
  end

  def test_own_idempotency_key
    first = waybill.emails.send(email("Once"), idempotency_key: "order-4711")
    assert_equal first, waybill.emails.send(email("Once"), idempotency_key: "order-4711")
  end
end

class FailuresTest < WaybillTest
  def test_dropped_connection_sends_one_mail
    %w[cut torn frayed].each do |fault|
      answer = client("#{fault}/send").emails.send(email(fault))
      assert_equal [answer[:id]], ids(waybill.logs.all(subject: fault))
    end
  end

  def test_429_is_repeated_after_retry_after
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_equal "queued", client("busy/send").emails.send(email("busy"))[:status]
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :>=, 1
  end

  def test_503_and_a_broken_gateway_are_repeated
    assert_equal "queued", client("down/send").emails.send(email("down"))[:status]
    assert_equal "list", client("gateway/list").domains.list[:object]
  end

  def test_exhausted_quota_is_not_repeated
    error = refused { client("quota/send").emails.send(email("Quota")) }
    assert_equal [429, "monthly_quota", 86_400], [error.status, error.reason, error.retry_after]
  end

  def test_last_answer_is_raised
    error = refused { client("broken/list", retries: 1).logs.list }
    assert_equal [502, "bad_answer"], [error.status, error.code]
  end

  def test_refusal_has_all_fields
    error = refused { waybill.emails.send(email("Unknown", from: "hi@unknown.test")) }
    assert_equal [422, "unprocessable", "domain_not_verified"], [error.status, error.code, error.reason]
    assert_match(/\Areq_/, error.request_id)
    assert_includes error.message, "unknown.test"
    error = refused { waybill.emails.send(email("Bad", to: "nobody")) }
    assert_equal [400, "to"], [error.status, error.details[0][:path]]
    error = refused { waybill.logs.get("msg_01k00000000000000000000000") }
    assert_equal [404, "not_found"], [error.status, error.code]
  end

  def test_redirect_is_not_followed
    error = refused { client("moved/list").domains.list }
    assert_equal [307, "bad_answer"], [error.status, error.code]
  end

  def test_unreachable_and_silent_services
    error = refused { Waybill::Client.new(base_url: "http://127.0.0.1:9", retries: 0).domains.list }
    assert_equal [0, "connection_failed"], [error.status, error.code]
    error = refused { client("silent/list", retries: 0, timeout: 0.3).domains.list }
    assert_equal [0, "connection_failed"], [error.status, error.code]
  end

  def test_key_and_address
    mistyped = KEY.chop + (KEY.end_with?("0") ? "1" : "0")
    ["", "wb_short", mistyped].each do |key|
      assert_equal "invalid_key", refused { Waybill::Client.new(key) }.code
    end
    assert_equal [true, false], [Waybill.well_formed_key?(KEY), Waybill.well_formed_key?(mistyped)]
    assert_equal "invalid_request", refused { Waybill::Client.new(base_url: "mail.example.org") }.code
    refute_includes waybill.inspect, KEY
    program = 'require "waybill"; print Waybill::Client.new.domains.list[:object]'
    [[KEY, nil], ["", KEY]].each do |first, second|
      variables = { "WAYBILL_KEY" => first, "WAYBILL_API_KEY" => second }
      printed = IO.popen([variables, RbConfig.ruby, "-Ilib", "-e", program], &:read)
      assert_equal "list", printed
    end
  end
end

class ReadingTest < WaybillTest
  def test_log_over_several_pages
    emails = Array.new(5) { |nth| email("Page #{nth}", tags: ["paged", "nth-#{nth}"]) }
    sent = ids(waybill.emails.send_batch(emails)[:data])
    query = { tag: ["paged"], limit: 2 }
    newest_first = ids(waybill.logs.all(query))
    assert_equal sent.sort, newest_first.sort
    assert_equal newest_first.reverse.drop(1), ids(waybill.logs.all({ **query, before: newest_first.last }))
    assert_equal newest_first.first(1), ids(waybill.logs.all(query).first(1))
    page = waybill.logs.list({ **query, status: %w[queued delivered], created_after: Time.utc(2020) })
    assert_equal [2, true], [page[:data].length, page[:has_more]]
    assert_equal 1, waybill.logs.list(tag: %w[paged nth-3])[:data].length
    assert_equal sent[0], waybill.logs.get(sent[0], as_of: Time.now)[:id]
    assert_equal "email.queued", waybill.logs.events(sent[0])[:data][0][:type]
  end

  def test_events_after_a_position
    first = waybill.emails.send(email("First event"))[:id]
    position = waybill.logs.events(first)[:data][0][:position]
    second = waybill.emails.send(email("Second event"))[:id]
    later = waybill.events.all(position, types: ["email.queued"])
    assert_equal([second], later.map { |event| event[:stream_id] })
    assert_includes waybill.events.all.map { |event| event[:stream_id] }, first
    assert_equal 1, waybill.events.list(after_position: position, limit: 1)[:data].length
  end

  def test_reads_send_the_position_of_the_last_write
    replica = client("replica/one")
    replica.domains.list
    replica.emails.send(email("Replica"))
    replica.domains.list
  end

  def test_positions_of_concurrent_writes_are_all_kept
    positions = Waybill::WritePositions.new
    first, = positions.begin
    second, = positions.begin
    positions.add(second, "pos_b")
    positions.add(first, "pos_a")
    begun, header = positions.begin
    assert_equal "pos_b,pos_a", header
    positions.add(begun, nil)
    positions.add(begun, "pos_c")
    assert_equal "pos_c", positions.begin.last
    20.times { |nth| positions.add(0, "pos_#{nth}") }
    assert_equal 16, positions.begin.last.split(",").length
  end

  def test_other_endpoints
    assert_equal "account", waybill.request("GET /v1/account")[:object]
  end
end

class ManagingTest < WaybillTest
  def test_domains
    domain = waybill.domains.add("news.test")
    assert_equal "news.test", domain[:name]
    assert_includes waybill.domains.list[:data].map { |each| each[:name] }, "news.test"
    assert_equal "verified", waybill.domains.verify("news.test")[:status]
    assert waybill.domains.update("news.test", { open_tracking: true })[:open_tracking]
    refute_equal domain[:records], waybill.domains.rotate_dkim("news.test")[:records]
    assert_equal domain[:id], waybill.domains.get(domain[:id])[:id]
    assert waybill.domains.remove("news.test")[:deleted]
    assert_equal 404, refused { waybill.domains.get("news.test") }.status
  end

  def test_suppressions
    address = "no/reply+bo@example.org"
    added = waybill.suppressions.add({ email: address, reason: "complaint" })
    assert_equal [address, "complaint"], added.values_at(:email, :reason)
    assert_equal added[:id], waybill.suppressions.get(address)[:id]
    batch = waybill.suppressions.batch({ add: Array.new(3) { |nth| { email: "s#{nth}@example.org" } } })
    assert_equal 3, batch[:added]
    assert_equal 4, waybill.suppressions.all(limit: 2).count
    assert_equal [address], waybill.suppressions.list(q: "bo@")[:data].map { |each| each[:email] }
    assert waybill.suppressions.remove(address)[:deleted]
    assert_equal 404, refused { waybill.suppressions.get(address) }.status
  end

  def test_received_mail
    file = { filename: "a.bin", content: ["\x00\n\xC8".b].pack("m0") }
    mail = { from: "ana@example.org", to: "in@acme.test", subject: "Hello", text: "Hi", attachments: [file] }
    made = waybill.inbound.test(mail)
    read = waybill.inbound.get(made[:id])
    assert_equal ["ana@example.org", "Hi"], [read[:from][:address], read[:text].strip]
    assert_equal "\x00\n\xC8".b, waybill.inbound.attachment(made[:id], "att_1")
    assert_includes waybill.inbound.raw(made[:id]), "Subject: Hello"
    assert_equal made[:id], waybill.threads.get(made[:thread_id])[:data].first[:id]
    assert_equal made[:id], JSON.parse(waybill.inbound.receipt(made[:id]))["email"]["id"]
    raw = waybill.inbound.test({ raw: ["From: bo@example.org\r\nTo: in@acme.test\r\n\r\nHi"].pack("m0") })
    assert_equal raw[:id], waybill.inbound.list(from: "bo@example.org")[:data].first[:id]
    assert_equal 2, waybill.inbound.all(limit: 1, domain: "acme.test").count
    assert waybill.inbound.remove(made[:id])[:deleted]
    assert_equal 404, refused { waybill.inbound.raw(made[:id]) }.status
  end

  def test_answer_forward_and_replay
    # Mail that is made up by a live key is not sent on.
    creation = { name: "Tests", mode: "test", scopes: ["admin"] }
    tests = Waybill::Client.new(waybill.request("POST /v1/api-keys", body: creation)[:key])
    made = tests.inbound.test({ from: "ana@example.org", to: "help@acme.test", subject: "Help", text: "Hi" })
    reply = tests.inbound.reply(made[:id], { from: "help@acme.test", text: "Gladly." }, idempotency_key: "answer-1")
    assert_equal "Re: Help", tests.emails.get(reply[:id])[:subject]
    forwarded = tests.inbound.forward(made[:id], ["bo@example.org"])
    assert_equal ["bo@example.org"], tests.emails.get(forwarded[:id])[:to]
    assert_equal made[:id], tests.inbound.replay(made[:id])[:id]
  end

  def test_routes
    routes = waybill.inbound.routes
    route = routes.create({ match: { to: "*@acme.test" }, action: { type: "drop" }, stop: true })
    assert_equal route, routes.get(route[:id])
    changed = routes.update(route[:id], { match: {}, position: 0, action: { type: "store" } })
    assert_equal [nil, 0, true], [changed[:match][:to], changed[:position], changed[:stop]]
    assert_equal [route[:id]], ids(routes.list[:data])
    trial = routes.test({ to: "in@acme.test", from: "ana@example.org" })
    assert_equal ["received", true], [trial[:status], trial[:routes][0][:applies]]
    assert routes.remove(route[:id])[:deleted]
  end
end

class TemplatesTest < WaybillTest
  def test_life_of_a_template
    templates = waybill.templates
    words = { subject: "Hi {{ name }}", html: "<p>{{ name }}</p>", locales: { de: { subject: "Hallo" } } }
    made = templates.create({ name: "Receipt", alias: "receipt", **words })
    assert_equal [1, nil], templates.publish("receipt").values_at(:number, :notes)
    choice = { alias: "receipt", locale: "de-AT", variables: { name: "Ana" } }
    templated = { from: "hi@acme.test", to: "ana@example.org", template: choice }
    batch = waybill.emails.send_batch([templated, email("Plain")])
    sent = waybill.emails.send(templated)
    [sent, batch[:data][0]].each { |each| assert_equal "Hallo", waybill.emails.get(each[:id])[:subject] }
    assert_equal made[:id], waybill.logs.get(sent[:id])[:template][:id]

    changed = templates.update("receipt", { subject: "Hello {{ name }}", locales: nil })
    assert_equal ["Hello {{ name }}", {}], changed[:draft].values_at(:subject, :locales)
    templates.publish(made[:id], { notes: "Kinder" })
    assert_equal "Hello Bo", templates.render("receipt", { version: 2, variables: { name: "Bo" } })[:subject]
    assert_equal [2, 1], templates.versions("receipt")[:data].map { |each| each[:number] }
    assert_equal "Kinder", templates.version("receipt", 2)[:notes]
    assert_equal 1, templates.rollback("receipt", 1)[:current_version]
    assert_equal 1, templates.get("receipt")[:current_version]
    copy = templates.duplicate("receipt", { alias: "copy" })
    assert_equal [copy[:id], made[:id]], ids(templates.all(limit: 1))
    assert templates.archive("copy")[:archived]
    assert_equal [made[:id]], ids(templates.list(q: "receipt", kind: "template")[:data])

    pushed = templates.push({ templates: [{ alias: "news", name: "News", subject: "News" }], publish: true })
    assert_equal ["created", 1], pushed[:templates][0].values_at(:action, :version)
    refute templates.validate({ subject: "{{ name" })[:valid]
    assert_equal 404, refused { templates.get("unknown") }.status
  end
end
