# frozen_string_literal: true

module Waybill
  # Manages templates of messages. A name is an id or an alias.
  class Templates
    LARGEST_PAGE = 100

    def initialize(sender)
      @sender = sender
    end

    def list(query = {})
      @sender.call("GET /v1/templates", query: query)
    end

    # Enumerates all matching templates, newest first.
    def all(query = {})
      Enumerator.new do |templates|
        Pages.each(query, LARGEST_PAGE, :after, :next_cursor) do |page_query|
          list(page_query).tap { |page| page[:data].each { |template| templates << template } }
        end
      end
    end

    def get(name)
      @sender.call("GET /v1/templates/{template}", name)
    end

    def create(template, idempotency_key: nil)
      @sender.call("POST /v1/templates", body: template, idempotency_key: idempotency_key)
    end

    # Changes the draft.
    def update(name, change)
      @sender.call("PATCH /v1/templates/{template}", name, body: change)
    end

    def archive(name)
      @sender.call("DELETE /v1/templates/{template}", name)
    end

    # Makes the draft the next version, which is sent from now on.
    def publish(name, publication = {}, idempotency_key: nil)
      @sender.call("POST /v1/templates/{template}/publish", name, body: publication, idempotency_key: idempotency_key)
    end

    def versions(name)
      @sender.call("GET /v1/templates/{template}/versions", name)
    end

    def version(name, number)
      @sender.call("GET /v1/templates/{template}/versions/{number}", name, number.to_s)
    end

    # Sends a former version from now on.
    def rollback(name, version, idempotency_key: nil)
      body = { version: version }
      @sender.call("POST /v1/templates/{template}/rollback", name, body: body, idempotency_key: idempotency_key)
    end

    def duplicate(name, duplication = {}, idempotency_key: nil)
      @sender.call("POST /v1/templates/{template}/duplicate", name, body: duplication, idempotency_key: idempotency_key)
    end

    # Returns what would be sent.
    def render(name, rendering = {})
      @sender.call("POST /v1/templates/{template}/render", name, body: rendering)
    end

    # Creates, changes and publishes templates by their aliases: all of them, or none.
    def push(push, idempotency_key: nil)
      @sender.call("POST /v1/templates/push", body: push, idempotency_key: idempotency_key)
    end

    # Returns what is wrong with a source, and the variables that it uses.
    def validate(source)
      @sender.call("POST /v1/templates/validate", body: source)
    end
  end
end
