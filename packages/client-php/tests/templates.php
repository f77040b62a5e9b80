<?php

// Tests of templates.

declare(strict_types=1);

use Waybill\Client;

return [
    'the life of a template' => function (): void {
        $waybill = new Client();
        $templates = $waybill->templates;
        $words = ['subject' => 'Hi {{ name }}', 'html' => '<p>{{ name }}</p>'];
        $words['locales'] = ['de' => ['subject' => 'Hallo']];
        $made = $templates->create(['name' => 'Receipt', 'alias' => 'receipt', ...$words]);
        $first = $templates->publish('receipt');
        equal([1, null], [$first['number'], $first['notes']]);
        $choice = ['alias' => 'receipt', 'locale' => 'de-AT', 'variables' => ['name' => 'Ana']];
        $templated = ['from' => 'hi@acme.test', 'to' => 'ana@example.org', 'template' => $choice];
        $batch = $waybill->emails->sendBatch([$templated, email('Plain')]);
        $sent = $waybill->emails->send($templated);
        foreach ([$sent, $batch['data'][0]] as $each) {
            equal('Hallo', $waybill->emails->get($each['id'])['subject']);
        }
        equal($made['id'], $waybill->logs->get($sent['id'])['template']['id']);
        // Variables may have the names of fields: an empty array stays a list.
        $draft = ['subject' => '{% for each in match %}{{ each }}{% else %}none{% endfor %}'];
        $draft['variables'] = ['type' => 'object', 'properties' => ['match' => ['type' => 'array']]];
        $rendered = $templates->render('receipt', ['draft' => $draft, 'variables' => ['match' => []]]);
        equal('none', $rendered['subject']);

        $changed = $templates->update('receipt', ['subject' => 'Hello {{ name }}', 'locales' => []]);
        equal(['Hello {{ name }}', []], [$changed['draft']['subject'], $changed['draft']['locales']]);
        $templates->publish($made['id'], ['notes' => 'Kinder']);
        $rendering = ['version' => 2, 'variables' => ['name' => 'Bo']];
        equal('Hello Bo', $templates->render('receipt', $rendering)['subject']);
        equal([2, 1], column($templates->versions('receipt')['data'], 'number'));
        equal('Kinder', $templates->version('receipt', 2)['notes']);
        equal(1, $templates->rollback('receipt', 1)['current_version']);
        equal(1, $templates->get('receipt')['current_version']);
        $copy = $templates->duplicate('receipt', ['alias' => 'copy']);
        equal([$copy['id'], $made['id']], column($templates->all(['limit' => 1]), 'id'));
        check($templates->archive('copy')['archived']);
        equal([$made['id']], column($templates->list(['q' => 'receipt', 'kind' => 'template'])['data'], 'id'));

        $news = ['alias' => 'news', 'name' => 'News', 'subject' => 'News'];
        $pushed = $templates->push(['templates' => [$news], 'publish' => true])['templates'][0];
        equal(['created', 1], [$pushed['action'], $pushed['version']]);
        equal(false, $templates->validate(['subject' => '{{ name'])['valid']);
        equal(404, refused(fn () => $templates->get('unknown'))->status);
    },
];
