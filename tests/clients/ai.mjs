// Vercel's AI SDK over OpenAI's chat, OpenAI's responses and Anthropic's messages.
import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { Output, embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { NAME, TEXT } from './common.mjs';

const baseURL = process.env.BASE_URL;
const openai = createOpenAI({ baseURL, apiKey: 'sk-test-0123456789' });
const anthropic = createAnthropic({ baseURL, apiKey: 'sk-ant-0123456789' });
const models = [(knobs) => openai.chat(`echo${knobs}`), (knobs) => openai(`echo${knobs}`), (knobs) => anthropic(`echo${knobs}`)];
const settings = { maxRetries: 0, maxOutputTokens: 99 };

for (const model of models) {
  assert.equal((await generateText({ model: model(''), prompt: TEXT, ...settings })).text, TEXT);

  let text = '';
  for await (const piece of streamText({ model: model(';chunk=2'), prompt: TEXT, ...settings }).textStream) text += piece;
  assert.equal(text, TEXT);

  const given = [];
  const properties = { text: { type: 'string' }, count: { type: 'integer' } };
  const save = tool({
    description: `Saves what ${NAME} said.`,
    inputSchema: jsonSchema({ type: 'object', properties, required: ['text'] }),
    execute: async (input) => (given.push(input.text), `Saved for ${NAME}`),
  });
  const run = await generateText({ model: model(''), prompt: TEXT, tools: { save }, stopWhen: stepCountIs(3), ...settings });
  assert.deepEqual(given, [TEXT]);
  assert.equal(run.text, `Saved for ${NAME}`);
}

const schema = z.object({ text: z.string(), items: z.array(z.string()) });
const structured = await generateText({ model: openai.chat('echo'), prompt: TEXT, output: Output.object({ schema }), ...settings });
assert.deepEqual(structured.output, { text: TEXT, items: [TEXT, 'x'] });

const { embeddings } = await embedMany({ model: openai.embedding('echo'), values: [TEXT, 'plain', TEXT], maxRetries: 0 });
assert.deepEqual(embeddings[0], embeddings[2]);
